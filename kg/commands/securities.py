"""`liantu securities`: a user's own securities master beside a base, names as of a day, and how two lists differ."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import say, shown_lang, warn_of
from kg.commands.options import Day, Words, json_option, kb_option
from kg.errors import UnknownName
from kg.messages.words import listed, noted
from kg.settings import load

if TYPE_CHECKING:
    from datetime import date

    from kg.securities.errors import MasterFault
    from kg.securities.master import Master
    from kg.securities.records import Issuer, Listing, Name

EXIT_REFUSED = 3
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_OPEN = "…"


@click.group()
def securities() -> None:
    """Manage lists of securities: import your own, look up who had a name on a day, compare two lists."""


@securities.command("import")
@click.argument("file", type=_FILE)
@click.option("--namechange", type=_FILE, help="dated history of short names (JSON of Tushare's namechange)")
@kb_option
def import_(file: Path, namechange: Path | None, kb: Path) -> None:
    """Import FILE (CSV, TSV, JSONL, or a list from an exchange) beside the base; reading and asking then use it."""
    from kg.securities.lists.imported import add_to_base  # noqa: PLC0415 -- imported when called
    from kg.securities.lists.imports import read_master  # noqa: PLC0415 -- imported when called

    rows = read_master(file, namechange=namechange)
    target = add_to_base(kb, rows)
    names = sum(map(len, rows.names.values()))
    say("securities.imported", codes=len(rows.listings), names=names, faults=len(rows.faults), target=target)
    _refuse(rows.faults)


@securities.command()
@click.argument("name", type=Words())
@click.option("--as-of", "day", type=Day(), help="who had the name on this day; all periods by default")
@click.option("--master", type=_FILE, default=lambda: load().master, help="your own list of securities")
@kb_option
@json_option
def show(name: str, day: date | None, *, master: Path | None, kb: Path, as_json: bool) -> None:
    """Show who NAME (a name, or a code in any form) is: periods of its names, its listings; else similar names."""
    from kg.securities.lists.imported import master_for  # noqa: PLC0415 -- imported when called
    from kg.securities.master import Master  # noqa: PLC0415 -- imported when called

    known = Master.load(master_for(kb, master))
    found = _issuers(known, name, day)
    if not found:
        raise UnknownName(name, _near(known, name, day))
    if as_json:
        click.echo(json.dumps([_plain(issuer, day) for issuer in found], ensure_ascii=False))
        return
    for issuer in found:
        click.echo(_description(issuer, day))


@securities.command()
@click.argument("before", type=_FILE)
@click.argument("after", type=_FILE)
@json_option
def diff(before: Path, after: Path, *, as_json: bool) -> None:
    """Compare the lists BEFORE and AFTER: codes that are new, gone or renamed."""
    from kg.securities.lists.imports import read_master  # noqa: PLC0415 -- imported when called
    from kg.securities.records import compare  # noqa: PLC0415 -- imported when called

    old, new = read_master(before), read_master(after)
    changes, lang = compare(old, new), shown_lang()
    for change in changes:
        if as_json:
            line = {"code": change.code, "kind": change.kind, "before": change.before, "after": change.after}
            click.echo(json.dumps(line, ensure_ascii=False))
        else:
            mark = {"added": "+", "removed": "-"}.get(change.kind, "~")
            click.echo(f"{mark} {change.code}  {listed(change.before, lang)} → {listed(change.after, lang)}")
    _refuse([*old.faults, *new.faults])


def _refuse(faults: list[MasterFault]) -> None:
    for fault in faults:
        warn_of(fault)
    if faults:
        sys.exit(EXIT_REFUSED)


def _issuers(master: Master, name: str, day: date | None) -> list[Issuer]:
    """Return the issuer with this code, else all with this name (on the day, if given)."""
    if (issuer := master.by_code(name)) is not None:
        return [issuer]
    if day is not None:
        return master.by_name(name, day)
    return list({issuer.id: issuer for issuer, _ in master.entries(name)}.values())


def _near(master: Master, name: str, day: date | None) -> list[str]:
    from datetime import date as calendar_day  # noqa: PLC0415 -- the far future stands for today's names

    from kg.securities.similar import NearNames  # noqa: PLC0415 -- spells out all names; only when nothing is found

    near, on = NearNames(master), day or calendar_day.max
    proposals = [*near.propose(name, on), *near.related(name, on)]
    return list(dict.fromkeys(f"{each.name}{noted(each.issuer.code, shown_lang())}" for each in proposals))[:5]


def _description(issuer: Issuer, day: date | None) -> str:
    head = f"{issuer.id}  {issuer.name_on(day) if day else issuer.name}"
    lines = [f"  {each.code}  {_span(each)}".rstrip() for each in issuer.listings]
    lines += [f"  {each.text}  {each.kind}  {_span(each)}".rstrip() for each in _names(issuer, day)]
    return "\n".join([head, *lines])


def _names(issuer: Issuer, day: date | None) -> list[Name]:
    return [name for name in issuer.names if day is None or name.is_live(day)]


def _span(each: Name | Listing) -> str:
    if each.start is None and each.end is None:
        return ""
    return f"[{each.start or _OPEN}, {each.end or _OPEN})"


def _plain(issuer: Issuer, day: date | None) -> dict[str, Any]:
    return {
        "entity": issuer.id,
        "name": issuer.name_on(day) if day else issuer.name,
        "listings": [
            {"code": each.code, "exchange": each.exchange, "start": _iso(each.start), "end": _iso(each.end)}
            for each in issuer.listings
        ],
        "names": [
            {"text": each.text, "kind": each.kind, "start": _iso(each.start), "end": _iso(each.end)}
            for each in _names(issuer, day)
        ],
    }


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
