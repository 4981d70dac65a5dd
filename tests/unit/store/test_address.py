"""How much of an embedded store lies in its log, while the engine changes the files."""

from pathlib import Path

from service.store.address import StoreAddress


def test_a_log_file_that_goes_while_the_folder_is_listed_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "wal"
    log.mkdir()
    (log / "1.wal").write_bytes(b"some entries")
    (log / "2.wal").symlink_to(tmp_path / "gone")
    address = StoreAddress(f"surrealkv://{tmp_path}")
    assert address.log_bytes == len(b"some entries")
    assert not address.must_flush()
