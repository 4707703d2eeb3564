"""A kept result counts where it was written, as it was written, and for what it is about; nowhere else."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nsstore.errors import SystemFailure
from nsstore.gate import testing
from nsstore.gate.kept import LIMIT, MOST_RESULTS, Home, Result
from nsstore.gate.verdict import Gate
from tests.gate.conftest import GREEN, RED, Code, Place, start_afresh

NOBODY = 65534


def test_a_green_result_is_kept(place: Place) -> None:
    """A build is tested once: the next process finds the result, in private files."""
    assert place.gate() == Gate(green=True, why=testing.GREEN)
    assert place.gate().green
    assert place.again().green
    assert place.tries.count == 1
    assert {path.stat().st_mode & 0o777 for path in (place.base / "selftest").iterdir()} == {0o600}
    assert (place.base / "selftest").stat().st_mode & 0o777 == 0o700


def test_a_red_result_is_kept_and_closes(place: Place) -> None:
    """A red build stays closed with the case that failed, and is not tested again until it is another one."""
    place.tries.proof = RED
    assert not place.gate().green
    place.tries.proof = GREEN
    gate = place.gate()
    assert (gate.green, RED.failed[0] in gate.why) == (False, True)
    assert place.tries.count == 1


def test_every_failed_case_is_counted(place: Place) -> None:
    """Of many cases that failed the first are named; one that is red without any says so."""
    place.tries.proof = testing.Proof(green=False, passed=0, failed=tuple(f"RL0{n}" for n in range(1, 8)))
    assert place.gate().why.endswith("at RL01; RL02; RL03; and 4 more")
    shutil.rmtree(place.base)
    place.tries.proof = testing.Proof(green=False, passed=9, failed=())
    assert "not all that has to be proven was tried" in place.gate().why


def test_a_red_result_that_is_removed_is_tested_again(place: Place) -> None:
    """Who deletes a red result hides nothing: another process tests, and this one remembers."""
    place.tries.proof = RED
    place.gate()
    shutil.rmtree(place.base / "selftest")
    assert not place.again().green
    assert place.tries.count == 1
    assert not place.gate().green
    assert place.tries.count == 2


@pytest.mark.parametrize("at", [0, 20, -2, -40, -70, 300], ids=str)
def test_an_edited_result_is_none(place: Place, at: int) -> None:
    """A byte that is changed in place, wherever it is, and the build is tested again."""
    place.tries.proof = RED
    place.gate()
    raw = bytearray(place.results.read_bytes())
    raw[at] ^= 1
    place.results.write_bytes(raw)
    place.tries.proof = GREEN
    assert place.gate().green
    assert place.tries.count == 2


def test_red_is_not_edited_to_green(place: Place) -> None:
    """A red result in which the word is changed is no result, in whatever way its proof is made up."""
    place.tries.proof = RED
    place.gate()
    body = place.results.read_bytes().partition(b"\n")[0].replace(b'"green":false', b'"green":true')
    for proof in (b"", b"0" * 64, place.results.read_bytes().split(b"\n")[1]):
        place.results.write_bytes(body + b"\n" + proof + b"\n")
        assert not place.gate().green
    assert place.tries.count == 4


def test_a_result_of_another_place_is_none(place: Place) -> None:
    """Copied from another machine, even with its key, a result is not one: it is of another file."""
    assert place.gate().green
    there = place.base.with_name("elsewhere")
    shutil.copytree(place.base / "selftest", there / "selftest")
    place.tries.proof, place.base = RED, there
    assert not place.gate().green
    assert place.tries.count == 2


def test_an_older_result_that_is_put_back_is_none(place: Place) -> None:
    """A green result does not come back from a copy once the build was found red."""
    assert place.gate().green
    old = place.base.with_name("old")
    shutil.copytree(place.base / "selftest", old)
    place.tries.proof = RED
    os.unlink(place.results)
    assert not place.gate().green
    for name in ("results", "key"):
        shutil.copy2(old / name, place.base / "selftest" / name)
        start_afresh()
        assert Home(str(place.base)).read().results == ()
    assert not place.gate().green
    assert place.tries.count == 3


def spoil_link(file: Path) -> None:
    """A link to the very file."""
    file.rename(file.with_name("moved"))
    file.symlink_to(file.with_name("moved"))


def spoil_hard(file: Path) -> None:
    """A second name."""
    os.link(file, file.parent.parent / "second")


def spoil_owner(file: Path) -> None:
    """Another owner."""
    if os.geteuid() != 0:
        pytest.skip("only root gives a file away")
    os.chown(file, NOBODY, NOBODY)


def spoil_kind(file: Path) -> None:
    """A pipe, which blocks who opens it without care."""
    file.unlink()
    os.mkfifo(file, 0o600)


SPOILS: dict[str, Callable[[Path], object]] = {
    "a link": spoil_link,
    "a hard link": spoil_hard,
    "another owner": spoil_owner,
    "an open mode": lambda file: file.chmod(0o644),
    "a pipe": spoil_kind,
    "nothing in it": lambda file: file.write_bytes(b""),
    "no end": lambda file: os.truncate(file, 16 * LIMIT),
    "half of it": lambda file: os.truncate(file, file.stat().st_size // 2),
}


@pytest.mark.parametrize("name", ["results", "key"])
@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_what_somebody_put_there_is_no_result(
    place: Place, spoil: Callable[[Path], object], name: str
) -> None:
    """Result or key as a link, another's, open to others or damaged: tested again, then kept anew."""
    assert place.gate().green
    spoil(place.base / "selftest" / name)
    assert place.gate().green
    assert place.tries.count == 2
    assert place.gate().green
    assert place.tries.count == 2


def test_a_folder_that_is_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    """Results elsewhere, reached by a link in the place of their folder, are neither read nor written."""
    assert place.gate().green
    there = tmp_path / "there"
    (place.base / "selftest").rename(there)
    (place.base / "selftest").symlink_to(there)
    before = (there / "results").read_bytes()
    place.tries.proof = RED
    assert not place.gate().green
    assert (there / "results").read_bytes() == before


def test_a_trust_home_reached_by_a_link_is_one(place: Place, tmp_path: Path) -> None:
    """The trust home itself may be named through a link, as everywhere."""
    assert place.gate().green
    (tmp_path / "link").symlink_to(place.base)
    place.base = tmp_path / "link"
    assert place.gate().green
    assert place.tries.count == 1


def test_where_nothing_can_be_kept_it_holds_for_the_process(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a place for results each process tests once, and remembers green and red."""

    def full(*_: object) -> None:
        raise SystemFailure("writing", OSError(28, ""))

    monkeypatch.setattr(Home, "keep", full)
    assert place.gate().green
    assert place.again().green
    assert place.tries.count == 1
    place.tries.proof = RED
    assert not place.gate().green
    assert not place.again().green
    assert place.tries.count == 2


def test_a_red_word_that_could_not_be_kept_is_heard(place: Place) -> None:
    """What this process found red is not outlived by an older green result that is kept."""
    assert place.gate().green
    fingerprint = place.fingerprint()
    red = Result(
        fingerprint=fingerprint, at="2999-01-01T00:00:00.000000Z", green=False, passed=1, failed=RED.failed
    )
    testing.tested_here[fingerprint] = red
    assert not place.again().green


def test_the_oldest_results_go(place: Place, code: Code) -> None:
    """So many results are kept, the newest first, and each build has one."""
    for number in range(MOST_RESULTS + 3):
        code.write("nsstore/__init__.py", f"one = {number}\n")
        assert place.gate().green
    kept = Home(str(place.base)).read()
    assert len(kept.results) == MOST_RESULTS
    assert kept.results[0].fingerprint == place.fingerprint()
    assert len({one.fingerprint for one in kept.results}) == MOST_RESULTS


def test_what_a_killed_keeper_left_goes(place: Place) -> None:
    """A draft of a result that never got its name is removed with the next one."""
    place.gate()
    draft = place.results.with_name("results.0123456789abcdef")
    draft.write_bytes(b"half")
    os.unlink(place.results)
    place.gate()
    assert not draft.exists()
