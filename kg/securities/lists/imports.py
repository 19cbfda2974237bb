"""Read the user's own securities master from CSV or JSONL.

CSV, one row per code and name, UTF-8 (with or without BOM) or GB18030. Only `code` and one name are needed:

    code,name,kind,start,end,full,english,listed,delisted,issuer
    601127.SH,小康股份,former,2016-06-15,2022-08-01,,,,,
    601127.SH,赛力斯,short,2022-08-01,,赛力斯集团股份有限公司,Seres Group,2016-06-15,,
    09927.HK,赛力斯,,,,,,,,601127.SH

The headers of the list exports of the Shanghai, Shenzhen and Beijing exchanges are accepted too, with commas or tabs.
`issuer` is the primary code of an issuer with several listings; other columns are ignored.

JSONL, one object per code: `{"code", "names": {day: short name}, "full": {day: name}, "en": {day: name},
"former": [{"name", "start", "end"}]}`, where `day` is the date of the list that contains the name.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

from kg.securities.codes import parse_code
from kg.securities.errors import MasterFault
from kg.securities.lists.shipped import parse_day
from kg.securities.records import NAME_KINDS, Listing, MasterRows, Name, NameKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

_COLUMNS = {
    "code": ("code", "A股代码", "证券代码", "公司代码", "股票代码", "代码", "symbol", "ts_code"),
    "name": ("name", "A股简称", "证券简称", "公司简称", "股票简称", "简称", "名称"),
    "full": ("full", "公司全称", "证券全称", "fullname"),
    "extended": ("扩位证券简称", "证券扩位简称", "扩位简称"),
    "english": ("english", "英文名称", "公司英文名称", "公司英文全称", "英文全称", "en", "enname"),
    "listed": ("listed", "上市日期", "A股上市日期", "list_date"),
    "delisted": ("delisted", "终止上市日期", "退市日期", "delist_date"),
    "kind": ("kind",), "start": ("start",), "end": ("end",), "issuer": ("issuer",),
}  # fmt: skip
_MARKED = re.compile(r"^(?:\*?ST|S\*?ST|SST|PT|XD|XR|DR|N(?=[一-鿿])|C(?=[一-鿿])|退市)|-[A-Z]{1,2}$|退$")
_GENERIC_WORDS = frozenset({
    "CHINA", "CHINESE", "SHANGHAI", "BEIJING", "SHENZHEN", "GUANGDONG", "ZHEJIANG", "JIANGSU", "SHANDONG",
    "XIAMEN", "HONG", "KONG", "NEW", "GREAT", "THE", "AND", "OF", "CO",
    "LTD", "LIMITED", "CORP", "CORPORATION", "COMPANY", "INC", "GROUP", "GP", "HOLDINGS",
    "HLDG", "INTERNATIONAL", "INTL", "TECHNOLOGY", "TECH", "INDUSTRY", "INDUSTRIAL", "CLASS", "ENERGY",
    "PHARMA", "PHARMACEUTICAL", "POWER", "BANK", "SECURITIES", "SCIENCE", "ELECTRONICS", "NATIONAL",
})  # fmt: skip
_KINDS: dict[str, NameKind] = {kind: kind for kind in NAME_KINDS}
_LOST_ZEROS = 5  # fewer digits than this have lost leading zeros; five are a Hong Kong code
_DAY_IN_KEY = re.compile(r"(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])(?!\d)(?:-\d\d)?)?")


def read_master(path: Path, *, namechange: Path | None = None) -> MasterRows:
    """Read a master in the format given by its file extension; `.json` is a name history only.

    Unreadable rows are skipped and recorded in the `faults` of the result.

    Raises:
        MasterFault: the file as a whole is not a master: no column for code or name, or invalid JSON.
    """
    changes = read_namechange(namechange) if namechange else {}
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        rows = read_jsonl(path, changes)
    else:
        history_only = path.suffix.lower() == ".json"
        rows = MasterRows() if history_only else read_csv(path)
        _add_changes(rows, read_namechange(path) if history_only else changes, source=(namechange or path).name)
    join_moved_codes(rows)
    return rows


def _add_changes(rows: MasterRows, changes: dict[str, list[tuple[date | None, str, bool]]], *, source: str) -> None:
    for text, events in changes.items():
        try:
            code = _canonical(text)
        except ValueError as fault:
            rows.faults.append(MasterFault(source, 1, f"skipped: {fault}"))
            continue
        rows.listings.setdefault(code, Listing(code, code.rpartition(".")[2]))
        for name in date_names(events):
            rows.add_name(code, name)


def read_csv(path: Path) -> MasterRows:
    """Read a CSV master; see the module's docstring for its columns."""
    text = _decoded(path)
    first = text.partition("\n")[0]
    lines = csv.DictReader(io.StringIO(text), delimiter="\t" if first.count("\t") > first.count(",") else ",")
    lines.fieldnames = [name.strip() for name in lines.fieldnames or ()]
    header = {
        column: next((name for name in names if name in (lines.fieldnames or ())), "")
        for column, names in _COLUMNS.items()
    }
    if not header["code"] or not header["name"]:
        raise MasterFault(path.name, 1, f"no column for code or name among {lines.fieldnames}")
    rows = MasterRows()
    for row in lines:
        try:
            _add_csv_row(rows, {column: (row.get(name) or "").strip() for column, name in header.items()})
        except ValueError as fault:
            rows.faults.append(MasterFault(path.name, lines.line_num, f"skipped: {fault}"))
    return rows


def _decoded(path: Path) -> str:
    """Decode a list as UTF-8, else as GB18030, which the exchanges use.

    Raises:
        MasterFault: the file is a workbook or other binary.
    """
    raw = path.read_bytes()
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise MasterFault(path.name, 1, "this is a workbook; save the sheet as CSV and import that")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError as fault:
        raise MasterFault(path.name, 1, "neither UTF-8 nor GB18030; save it as UTF-8") from fault


def _add_csv_row(rows: MasterRows, row: dict[str, str]) -> None:
    code = _canonical(row["code"])
    kind = _KINDS.get(row["kind"] or "short")
    if kind is None:
        raise ValueError(f"unknown kind of name {row['kind']!r}, expected one of {', '.join(NAME_KINDS)}")
    if row["name"]:
        rows.add_name(code, Name(row["name"], kind, parse_day(row["start"]), parse_day(row["end"]), "user"))
    if row["extended"] and row["extended"] != row["name"]:
        rows.add_name(code, Name(row["extended"], "short", source="user"))
    if row["full"]:
        rows.add_name(code, Name(row["full"], "full", source="user"))
    if row["english"]:
        rows.add_name(code, Name(row["english"], "english", source="user"))
    rows.listings[code] = Listing(code, code.rpartition(".")[2], parse_day(row["listed"]), parse_day(row["delisted"]))
    if row["issuer"]:
        rows.primaries[code] = _canonical(row["issuer"])


def read_jsonl(path: Path, changes: dict[str, list[tuple[date | None, str, bool]]] | None = None) -> MasterRows:
    """Read a JSONL master; `changes` are dated short names per code from `read_namechange`."""
    rows = MasterRows()
    latin: dict[str, set[str]] = {}
    for number, item in _objects(path):
        try:
            code = _canonical(str(item["code"]))
            events = list((changes or {}).get(code, ()))
            events += [
                (parse_day(str(old.get("start") or "")), str(old["name"]), True) for old in item.get("former", ())
            ]
            events += _seen(item.get("names", {}))
        except (KeyError, TypeError, ValueError) as fault:
            rows.faults.append(MasterFault(path.name, number, f"skipped: {fault!r}"))
            continue
        for name in date_names(events):
            rows.add_name(code, name)
        for text in _texts(item.get("full", {})):
            rows.add_name(code, Name(text, "full", source="user"))
        for text in _texts(item.get("en", {})):
            rows.add_name(code, Name(text, "english", source="user"))
        english = [text for text in item.get("en", {}).values() if isinstance(text, str)]
        latin[code] = set().union(*(_distinctive_words(text) for text in english))
        rows.listings[code] = Listing(code, code.rpartition(".")[2])
    join_dual_listings(rows, latin)
    return rows


def join_dual_listings(rows: MasterRows, latin: dict[str, set[str]]) -> None:
    """Join a Hong Kong code to the mainland code with the same Chinese name and a distinctive English word in common.

    The Chinese name alone is not enough: over a hundred short names belong to different issuers in the two markets.
    """
    owners: dict[str, list[str]] = {}
    for code, names in rows.names.items():
        if not code.endswith(".HK"):
            for text in {name.text for name in names if name.kind != "english"}:
                owners.setdefault(text, []).append(code)
    for code, names in rows.names.items():
        if code.endswith(".HK"):
            matches = {owner for name in names for owner in owners.get(name.text, ()) if latin[owner] & latin[code]}
            if len(matches) == 1:
                rows.primaries[code] = matches.pop()


def _distinctive_words(english: str) -> set[str]:
    """Return the distinctive words of an English name."""
    return set(re.findall(r"[A-Z0-9]{2,}", english.upper())) - _GENERIC_WORDS


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    item = json.loads(line)
                except json.JSONDecodeError as fault:
                    raise MasterFault(path.name, number, f"not valid JSON: {fault.msg}") from fault
                if not isinstance(item, dict):
                    raise MasterFault(path.name, number, "not a JSON object")
                yield number, item


def read_namechange(path: Path) -> dict[str, list[tuple[date | None, str, bool]]]:
    """Read dated short names per code from a column-wise JSON dump (`ts_code`, `name`, `start_date`)."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise MasterFault(path.name, 1, f"not valid JSON: {fault}") from fault
    found: dict[str, list[tuple[date | None, str, bool]]] = {}
    try:
        for key, code in table["ts_code"].items():
            day = parse_day(table["start_date"][key] or "")
            found.setdefault(str(code), []).append((day, str(table["name"][key]), True))
    except (KeyError, TypeError, ValueError) as fault:
        raise MasterFault(path.name, 1, f"cannot be read: {fault!r}") from fault
    return found


def _texts(names: dict[str, Any]) -> set[str]:
    """Return the names, without the truncated English short names of HKEX (`HUA HONG SEMI`)."""
    return {text for key, text in names.items() if isinstance(text, str) and not key.startswith("hkex_short")}


def _seen(names: dict[str, Any]) -> list[tuple[date | None, str, bool]]:
    """Return the names with the day of their list, or None for an undated list."""
    found: list[tuple[date | None, str, bool]] = []
    for key, text in names.items():
        if not isinstance(text, str):  # pandas writes a missing name as NaN
            continue
        day = _DAY_IN_KEY.search(key)
        undated = day is None or "繁" in key
        found.append((None if undated or day is None else parse_day(day[0]), text, False))
    return found


def date_names(events: list[tuple[date | None, str, bool]]) -> Iterator[Name]:
    """Convert days on which a name began (exact) or was seen to names with periods.

    A change that is only observed happened between two lists: the old name ends at the later list and the new one
    begins at the earlier, so both are valid in between. The first name has no start, the last no end. A name continues
    while the exchange marks the issuer (湘电股份, *ST湘电, 湘电股份), because it stays in use.
    """
    undated = {text for day, text, _ in events if day is None}
    # On the same day a seen name follows exact ones, because a list shows the state after the day's changes.
    dated = sorted({(day, not exact, text) for day, text, exact in events if day is not None})
    steps: list[tuple[date, bool, str]] = []
    last_day = None
    for day, seen, text in dated:
        if not steps or steps[-1][2] != text:
            steps.append((last_day if seen and last_day else day, seen, text))
        last_day = day
    periods = _periods(steps, [day for day, _, _ in dated])
    marked = [bool(_MARKED.search(text)) for _, _, text in steps]
    for place, (_, _, text) in enumerate(steps):
        first, last = place, place
        while not marked[place] and first > 0 and marked[first - 1]:
            first -= 1
        while not marked[place] and last + 1 < len(steps) and marked[last + 1]:
            last += 1
        begin, end = periods[first][0], periods[last][1]
        if begin is None or end is None or end > begin:
            yield Name(text, "short" if end is None else "former", begin, end, "user")
    for text in undated - {text for _, _, text in steps}:
        yield Name(text, "former" if steps else "short", source="user")


def _periods(steps: list[tuple[date, bool, str]], seen: list[date]) -> list[tuple[date | None, date | None]]:
    """Return the period of each step, up to the next one or, if that was only observed, up to the day it was seen."""
    found: list[tuple[date | None, date | None]] = []
    for place, (begin, _, _) in enumerate(steps):
        end = None
        if place + 1 < len(steps):
            next_day, only_seen, _ = steps[place + 1]
            end = next((day for day in seen if day > next_day), next_day) if only_seen else next_day
        found.append((begin if place else None, end))
    return found


def join_moved_codes(rows: MasterRows) -> None:
    """Join old Beijing codes to the 920 codes with the same name."""
    owners = {name.text: code for code, names in rows.names.items() if code.startswith("920") for name in names}
    for code, names in rows.names.items():
        if code.endswith(".BJ") and not code.startswith("920"):
            moved = next((owners[name.text] for name in names if name.text in owners), None)
            if moved is not None:
                rows.primaries[code] = moved


def _canonical(text: str) -> str:
    """Return the canonical form of a code, also for Tushare and Yahoo spellings and for lost leading zeros.

    Raises:
        ValueError: not a code.
    """
    plain = text.strip()
    code = parse_code(plain) or (parse_code(plain.zfill(6)) if plain.isdigit() and len(plain) < _LOST_ZEROS else None)
    if code is None:
        raise ValueError(f"{text!r} is not a securities code")
    return str(code)
