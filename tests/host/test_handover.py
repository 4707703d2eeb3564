"""A session is handed over from a client's hook to the same client's server, and to nobody else's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nsstore.errors import EscapeError, InvalidInput, Refused
from nsstore.host import handover
from nsstore.host.handover import process, read_session, write_session

CLIENT = "claude-code"
CLIENT_PROCESS = handover.client_process  # as it is; every test here takes this process for the client
READ = "from nsstore.host.handover import read_session; print(read_session('claude-code'))"
WRITE = "from nsstore.host.handover import write_session; write_session('claude-code', {!r})"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trust home of this test's own."""
    monkeypatch.setenv("NSSTORE_TRUST_HOME", str(tmp_path / "trust"))
    return tmp_path / "trust"


def child(code: str, *before: str) -> str:
    """What a child of this process prints."""
    done = subprocess.run([*before, sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_what_a_hook_wrote_its_clients_server_reads() -> None:
    """Two children of one process: what the one hands over the other reads, and the newest counts."""
    child(WRITE.format("first"))
    assert child(READ) == "first"
    child(WRITE.format("second"))
    assert child(READ) == "second"


def test_a_shell_between_is_not_the_client() -> None:
    """A client runs its hooks through a shell: the session is the client's all the same."""
    code = WRITE.format("by-a-shell")
    child("", "sh", "-c", f'{sys.executable} -c "{code}"; true; :')
    done = subprocess.run(
        ["sh", "-c", f'{sys.executable} -c "{code}"; exit 0'], capture_output=True, check=True
    )
    assert done.stderr == b""
    assert child(READ) == "by-a-shell"


def test_another_client_reads_nothing() -> None:
    """A server that another process started does not take this process's session."""
    child(WRITE.format("mine"))
    other = (
        f"import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {READ!r}]).decode())"
    )
    assert child(other) == "None"
    assert child(READ) == "mine"


def test_another_kind_of_client_reads_nothing() -> None:
    """A session is handed over under the client's name."""
    child(WRITE.format("mine"))
    assert child(READ.replace("claude-code", "codex")) == "None"


def test_nothing_was_handed_over(home: Path) -> None:
    """Where nobody handed over anything nothing is read, and nothing is made."""
    assert read_session(CLIENT) is None
    assert not home.exists()


def test_the_file_is_private(home: Path) -> None:
    """The file has mode 0600 in directories of mode 0700."""
    write_session(CLIENT, "mine")
    (file,) = (home / "handover" / CLIENT).iterdir()
    assert [one.stat().st_mode & 0o777 for one in (file, file.parent, file.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]


def test_a_file_that_others_can_read_is_refused(home: Path) -> None:
    """A file that was opened to others is not believed."""
    write_session(CLIENT, "mine")
    (file,) = (home / "handover" / CLIENT).iterdir()
    file.chmod(0o644)
    with pytest.raises(EscapeError):
        read_session(CLIENT)


@pytest.mark.parametrize("what", ["file", "folder", "whole"])
def test_no_link_is_followed(home: Path, tmp_path: Path, what: str) -> None:
    """A link in the place of the file, of its folder or of the whole place is refused."""
    write_session(CLIENT, "mine")
    (file,) = (home / "handover" / CLIENT).iterdir()
    given = {"file": file, "folder": file.parent, "whole": file.parent.parent}[what]
    given.rename(tmp_path / "moved")
    given.symlink_to(tmp_path / "moved")
    with pytest.raises((EscapeError, Refused)):
        read_session(CLIENT)


def test_what_a_dead_client_left_goes(home: Path) -> None:
    """Whoever writes removes what processes left that are gone, and nothing of those that live."""
    dead = "import subprocess, sys; subprocess.check_call([sys.executable, '-c', {!r}])".format(
        WRITE.format("dead")
    )
    child(dead)
    folder = home / "handover" / CLIENT
    (left,) = folder.iterdir()
    child(WRITE.format("mine"))
    (file,) = folder.iterdir()
    assert file != left


def test_a_start_of_the_machine_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart another process may have the same id: what was handed over before does not count."""
    write_session(CLIENT, "mine")
    monkeypatch.setattr(handover, "_boot", lambda: "another")
    assert read_session(CLIENT) is None


@pytest.mark.parametrize(
    "raw", [b"", b"{", b'{"session_id":"x"}', b'{"session_id":"*","boot":"b"}', b"x" * 9000]
)
def test_damage_is_nothing(home: Path, raw: bytes) -> None:
    """A file that is not what was written hands over nothing."""
    write_session(CLIENT, "mine")
    (file,) = (home / "handover" / CLIENT).iterdir()
    file.write_bytes(raw)
    assert read_session(CLIENT) is None


def test_more_than_was_written_is_nothing(home: Path) -> None:
    """A file that is longer than any that was written is not read as far as it goes."""
    write_session(CLIENT, "mine")
    (file,) = (home / "handover" / CLIENT).iterdir()
    file.write_bytes(file.read_bytes() + b" " * 5_000)
    assert read_session(CLIENT) is None


@pytest.mark.parametrize("given", ["", "*", "null", "../x"])
def test_no_id_is_refused(home: Path, given: str) -> None:
    """What is no id is refused before anything is written."""
    with pytest.raises(InvalidInput, match="session_id"):
        write_session(CLIENT, given)
    assert not home.exists()


@pytest.mark.parametrize("client", ["", "../x", "a/b", "A"])
def test_no_client_is_refused(client: str) -> None:
    """A client's name is a word: no path is made of anything else."""
    with pytest.raises(InvalidInput, match="client"):
        write_session(client, "mine")
    with pytest.raises(InvalidInput, match="client"):
        read_session(client)


def test_a_process_is_named_by_its_start() -> None:
    """A process is its id and its start: another that gets the same id later is another."""
    own = process("self")
    assert own is not None
    assert own.pid == os.getpid()
    assert own.parent == os.getppid()
    assert own.start > 0
    assert process(2**22 + 1) is None


def test_where_nobody_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system that does not say who started whom, writing is refused with a way out."""

    def nothing(_: int | str) -> None:
        return None

    monkeypatch.setattr(handover, "process", nothing)
    assert handover.client_process() is None
    assert read_session(CLIENT) is None
    with pytest.raises(Refused, match="NSSTORE_SESSION"):
        write_session(CLIENT, "mine")


def family(*names: str) -> dict[int | str, handover.Process]:
    """Processes by their ids as a system would tell them: the first is 1, each started the next."""
    found: dict[int | str, handover.Process] = {
        pid: handover.Process(pid=pid, start=7, name=name, parent=pid - 1)
        for pid, name in enumerate(names, 1)
    }
    return {**found, "self": found[len(names)]}


@pytest.mark.parametrize(
    ("names", "client"),
    [
        (("claude", "sh", "python3"), 1),
        (("claude", "python3"), 1),
        (("tini", "claude", "sh", "python3"), 2),
        (("systemd", "bash", "python3"), None),
        (("systemd", "systemd", "python3"), None),
        (("sh", "python3"), None),
        (("python3",), None),
    ],
)
def test_the_first_process_may_be_the_client(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], client: int | None
) -> None:
    """In a container the client may be process 1; what takes in orphans there is nobody's client."""
    monkeypatch.setattr(handover, "process", family(*names).get)
    found = CLIENT_PROCESS()
    assert (found.pid if found is not None else None) == client
