"""One store, many threads; cancellation; forks."""

import asyncio
import os
import threading

import pytest

from bench.binding import bind
from bench.child import Report, in_child
from bench.powercut.examine import audit_faults
from bench.world import World

pytestmark = pytest.mark.usefixtures("unflushed")


def test_threads_share_a_session(world: World) -> None:
    """Eight threads that write and read through one session lose nothing and see their own writes at once."""
    wrong: list[BaseException] = []
    with world.open() as store:
        session = bind(store)

        def work(name: int) -> None:
            try:
                for number in range(15):
                    text = f"thread {name} note {number}"
                    mine = session.remember(text).record_id
                    assert session.get(mine).text == text
                    assert mine in {one.record_id for one in session.list(limit=1000).items}
                    assert mine in {hit.record_id for hit in session.search(text, k=1000).hits}
                    session.state.put(f"key {name}", text)
                    assert session.state.get(f"key {name}").text == text
            except BaseException as err:  # noqa: BLE001 - told to the thread that asserts
                wrong.append(err)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert session.list().total == 8 * 15
    with world.open() as store:
        assert bind(store).list().total == 8 * 15
        assert len(bind(store).state.list()) == 8
    assert audit_faults(world, "acme") == []


def test_cancelled_tasks_leave_whole_records(world: World) -> None:
    """Under asyncio a call whose task is cancelled is whole or not there, and the next one works."""

    async def main() -> None:
        with world.open() as store:
            session = bind(store)
            tasks = [asyncio.create_task(asyncio.to_thread(session.remember, f"note {n}")) for n in range(40)]
            await asyncio.sleep(0.005)
            for task in tasks[::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(session.remember, "after")

    asyncio.run(main())
    with world.open() as store:
        texts = [one.text for one in bind(store).list().items]
        assert "after" in texts
        assert len(texts) == len(set(texts))
        assert {f"note {n}" for n in range(1, 40, 2)} <= set(texts)
    assert audit_faults(world, "acme") == []


def test_a_fork_goes_on_with_an_open_store(world: World) -> None:
    """A child that inherits an open store writes and reads through it, and so does its parent afterwards."""
    with world.open() as store:
        session = bind(store)
        session.remember("of the parent")
        session.search("parent")

        def task(report: Report) -> None:
            session.remember("of the child")
            report(str(len(session.search("child parent").hits)).encode())
            os._exit(0)

        ended = in_child(task)
        assert (ended.status, ended.lines) == (0, (b"2",))
        session.remember("of the parent again")
        assert session.list().total == 3
    assert audit_faults(world, "acme") == []


def test_a_child_forked_from_a_writing_process(world: World) -> None:
    """Forked while threads write, a child still gets every lock it asks for."""
    with world.open() as store:
        session = bind(store)
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                session.remember("of the parent")
                session.search("parent")

        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for turn in range(8):

                def task(_: Report, turn: int = turn) -> None:
                    with world.open() as mine:
                        bind(mine, session_id=f"child-{turn}").remember("of the child")
                    session.remember("of the child")
                    session.search("child")
                    os._exit(0)

                assert in_child(task).status == 0
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert audit_faults(world, "acme") == []
