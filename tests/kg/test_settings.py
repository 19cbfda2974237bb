from __future__ import annotations

from pathlib import Path

import pytest

from kg.errors import SettingsError
from kg.settings import Settings, load


def test_without_anything_the_defaults_hold(tmp_path: Path):
    assert load({}, tmp_path) == Settings(Path("kb.liantu"), "zh", 0, ner=True)


def test_a_variable_goes_before_the_file_and_the_file_before_the_default(tmp_path: Path):
    (tmp_path / "liantu.toml").write_text('kb = "my.kb"\nlang = "en"\nworkers = 3\nner = false\nmaster = "m.csv"\n')
    assert load({}, tmp_path) == Settings(Path("my.kb"), "en", 3, ner=False, master=Path("m.csv"))
    given = {"KG_KB": "other.kb", "KG_WORKERS": "5", "KG_NER": "on", "KG_LANG": "zh", "KG_OTHER": "not ours"}
    assert load(given, tmp_path) == Settings(Path("other.kb"), "zh", 5, ner=True, master=Path("m.csv"))


def test_an_empty_variable_is_not_set(tmp_path: Path):
    assert load(dict.fromkeys(("KG_KB", "KG_LANG", "KG_WORKERS", "KG_NER", "KG_MASTER"), ""), tmp_path) == Settings()


def test_the_environment_of_the_process_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("KG_KB", "from.env")
    monkeypatch.chdir(tmp_path)
    assert load().kb == Path("from.env")
    (tmp_path / "liantu.toml").write_text("workers = 2")
    assert load().workers == 2


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("LANG", "fr", "'fr' is not one of zh, en"),
        ("WORKERS", "many", "'many' is not a whole number"),
        ("WORKERS", "-1", "must not be negative"),
        ("WORKERS", "1.5", "'1.5' is not a whole number"),
        ("NER", "maybe", "'maybe' is not on or off"),
        ("KB", "a\0b", "is not a path"),
        ("MIN_CONFIDENCE", "high", "'high' is not a number"),
        ("MIN_CONFIDENCE", "1.5", "must lie between 0 and 1"),
        ("MIN_CONFIDENCE", "nan", "must lie between 0 and 1"),
    ],
)
def test_a_bad_variable_is_one_clear_error(tmp_path: Path, name: str, value: str, says: str):
    with pytest.raises(SettingsError) as fault:
        load({f"KG_{name}": value}, tmp_path)
    assert str(fault.value).startswith(f"setting {name.lower()}: ")
    assert says in str(fault.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kb = 5", "setting kb: 5 is not a path"),
        ('master = ""', "setting master: '' is not a path"),
        ("lang = ['zh']", "setting lang: ['zh'] is not one of"),
        ("workers = true", "setting workers: True is not a whole number"),
        ("workers = 2.0", "setting workers: 2.0 is not a whole number"),
        ("ner = []", "setting ner: [] is not on or off"),
        ("worker = 2", "setting worker: no such setting"),
        ("[kb]\npath = 1", "setting kb: "),
        ("kb = ", "liantu.toml: not valid TOML: "),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, text: str, says: str):
    (tmp_path / "liantu.toml").write_text(text)
    with pytest.raises(SettingsError) as fault:
        load({}, tmp_path)
    assert says in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path):
    (tmp_path / "liantu.toml").write_bytes("lang = '中'".encode("gbk"))
    with pytest.raises(SettingsError, match=r"liantu\.toml: not valid TOML"):
        load({}, tmp_path)
    (tmp_path / "liantu.toml").unlink()
    (tmp_path / "liantu.toml").mkdir()
    with pytest.raises(SettingsError, match=r"liantu\.toml: cannot be read"):
        load({}, tmp_path)


@pytest.mark.parametrize(
    ("word", "meant"), [("1", True), ("TRUE", True), ("yes", True), ("0", False), ("No", False), ("off", False)]
)
def test_a_flag_is_said_in_several_ways(tmp_path: Path, word: str, *, meant: bool):
    assert load({"KG_NER": word}, tmp_path).ner is meant


def test_the_market_zone_is_a_time_zone():
    assert load({"KG_MARKET_ZONE": "America/New_York"}, Path("nowhere")).market_zone == "America/New_York"
    for wrong in ("Beijing", "../../etc/passwd", "/etc/localtime"):
        with pytest.raises(SettingsError, match="market_zone"):
            load({"KG_MARKET_ZONE": wrong}, Path("nowhere"))
