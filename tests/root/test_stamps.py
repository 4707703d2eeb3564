"""A stamp is equal only as long as nothing changed, whether or not a link stands in between."""

import os
import time
from pathlib import Path

from nsstore.root.stamps import folders_below, identity_stamp, moment, settled, stamp


def test_a_link_has_the_stamp_of_what_it_leads_to(tmp_path: Path) -> None:
    """What changes behind a link shows, as does the link itself, and that there is nothing behind it."""
    link, real = str(tmp_path / "link"), tmp_path / "real"
    os.symlink(real, link)
    seen = [stamp(link)]
    real.write_text("one")
    seen.append(stamp(link))
    real.write_text("another")
    seen.append(stamp(link))
    os.unlink(link)
    seen.append(stamp(link))
    os.symlink(os.path.relpath(real, tmp_path), link)
    seen.append(stamp(link))
    assert len(set(seen)) == len(seen)
    assert stamp(link) == stamp(link)


def test_a_directory_behind_a_link_is_another_one(tmp_path: Path) -> None:
    """Which directory a link leads to shows; what happens in it does not."""
    (tmp_path / "real").mkdir()
    link = str(tmp_path / "link")
    os.symlink("real", link)
    before = identity_stamp(link)
    (tmp_path / "real" / "x").write_text("x")
    assert identity_stamp(link) == before
    (tmp_path / "real").rename(tmp_path / "old")
    (tmp_path / "real").mkdir()
    assert identity_stamp(link) != before


def test_a_change_behind_a_link_is_not_settled(tmp_path: Path) -> None:
    """What a link leads to has to have been as it is for a moment as well."""
    real, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(real)
    time.sleep(0.05)
    began = moment()
    assert settled([stamp(str(link))], began)
    real.write_text("x")
    assert not settled([stamp(str(link))], moment())


def test_folders_with_links_cannot_be_looked_at(tmp_path: Path) -> None:
    """Every directory below is told, unless one is a link: what it leads to would not show."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    found = folders_below(str(tmp_path), 10)
    assert found is not None
    assert set(found) == {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")}
    (tmp_path / "a" / "c").symlink_to(tmp_path)
    assert folders_below(str(tmp_path), 10) is None
