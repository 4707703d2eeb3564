"""State documents at the terminal."""

from tests.cli.conftest import Person


def test_put_get_list_history(person: Person) -> None:
    """A document is put, got, listed under its key, and followed back through its versions."""
    first = person.ok("state", "put", "plan", "1. freeze").strip()
    second = person.ok("state", "put", "plan", "-", given="2. tag\n").strip()
    assert person("state", "get", "plan", "--text").stdout_bytes == b"2. tag\n"
    assert "key: plan" in person.ok("state", "get", "plan")
    assert [one["key"] for one in person.json("state", "list")["items"]] == ["plan"]
    assert "plan" in person.ok("state", "list")
    versions = person.json("state", "history", "plan")["versions"]
    assert [one["record_id"] for one in versions] == [second, first]
    assert second in person.ok("state", "history", "plan")


def test_compare_and_set(person: Person) -> None:
    """--expect writes only at that version and --if-absent only the first; both at once are refused."""
    first = person.ok("state", "put", "plan", "one", "--if-absent").strip()
    late = person("state", "put", "plan", "two", "--if-absent", "--json")
    assert late.exit_code == 5
    assert "there is a document under this key already" in late.stdout
    second = person.ok("state", "put", "plan", "two", "--expect", first).strip()
    assert person("state", "put", "plan", "three", "--expect", first).exit_code == 5
    assert person("state", "put", "plan", "three", "--expect", second, "--if-absent").exit_code == 3
    assert person.json("state", "get", "plan")["text"] == "two"


def test_a_conflict_may_be_tried_again(person: Person) -> None:
    """The error of a lost race says in JSON that trying again can help."""
    first = person.ok("state", "put", "plan", "one").strip()
    person.ok("state", "put", "plan", "two", "--expect", first)
    error = person.json("state", "put", "plan", "three", "--expect", first)["error"]
    assert (error["kind"], error["retryable"]) == ("refused", True)


def test_a_document_that_is_not_there(person: Person) -> None:
    """A key nobody wrote, and one of another branch, are not visible alike."""
    person.ok("state", "put", "plan", "one")
    absent = person("state", "get", "other")
    denied = person("state", "get", "plan", "--branch", "main")
    assert (absent.exit_code, absent.stderr) == (denied.exit_code, denied.stderr) == (4, denied.stderr)
