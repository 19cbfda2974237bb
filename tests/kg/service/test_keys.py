from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kg.errors import SettingsError
from kg.service.keys import KeyRing, hash_key, random_key, read_file, read_hashes

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = hash_key("one"), hash_key("two")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def write(path: Path, text: str, clock: Clock) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(int(clock.now * 1e9), int(clock.now * 1e9)))


def test_a_file_names_clients_and_their_rates(tmp_path: Path):
    path = tmp_path / "keys"
    path.write_text(f"# ours\nresearch {ONE.upper()}\nqa {TWO} 2.5 # the service\n\n", encoding="utf-8")
    assert [(key.name, key.hash, key.rate) for key in read_file(path, 7)] == [("research", ONE, 7), ("qa", TWO, 2.5)]


@pytest.mark.parametrize(
    "line", ["research", "research abc", f"a {ONE} x", f"a {ONE} -1", f"a {ONE} inf", f"a {ONE} 1 2"]
)
def test_a_wrong_line_is_named_without_the_key(tmp_path: Path, line: str):
    path = tmp_path / "keys"
    path.write_text(f"good {TWO}\n{line}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="line 2: write NAME HASH") as raised:
        KeyRing(file=path)
    assert ONE not in str(raised.value)
    with pytest.raises(SettingsError, match="cannot be read"):
        KeyRing(file=tmp_path / "none")


def test_keys_are_revoked_while_the_service_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path, clock = tmp_path / "keys", Clock()
    write(path, f"a {ONE}\nb {TWO}\n", clock)
    ring = KeyRing(file=path, clock=clock)
    assert ring.required
    assert [key.name if (key := ring.known(sent)) else "" for sent in ("one", "two", "three", "")] == ["a", "b", "", ""]
    clock.now += 2
    write(path, f"b {TWO}\n", clock)
    assert ring.known("one") is None
    assert ring.known("two")
    clock.now += 2
    write(path, "b\n", clock)
    assert ring.known("two")
    assert "the keys stay as they were" in caplog.text
    clock.now += 2
    path.unlink()
    assert ring.known("two") is None
    assert ring.required


def test_each_key_has_a_rate_of_its_own():
    clock = Clock()
    ring = KeyRing(read_hashes(f"{ONE},{TWO}", 5), clock=clock)
    one, two = ring.known("one"), ring.known("two")
    assert one
    assert two
    assert [ring.wait(one) for _ in range(10)] == [0.0] * 10
    assert ring.wait(one) == pytest.approx(0.2)
    assert ring.wait(two) == 0
    clock.now += 0.21
    assert ring.wait(one) == 0
    assert ring.wait(one) > 0
    clock.now += 1000
    assert sum(ring.wait(one) == 0 for _ in range(100)) == 10


def test_keys_are_random():
    assert len({random_key() for _ in range(100)}) == 100
    assert not KeyRing().required
