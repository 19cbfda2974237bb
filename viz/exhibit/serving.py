"""The explorer over HTTP: the query API, the page, records packed on request, and judgements from the page itself.

The query API stays read-only. The routes that write a judgement or a reader's note answer only requests that carry the
token which the page of this process holds, so that no other site can send them for the reader.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, date, datetime  # annotations that FastAPI reads at run time
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import quote

import msgspec
from fastapi import Query, Request  # annotations that FastAPI reads at run time
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from kg.commands.files import replacing
from kg.errors import JudgementRefused, QuestionError, StoreLocked
from kg.ids import entity_id
from kg.judgement import Judgement, Verdict
from kg.service.app import create_app
from kg.service.problems import problem
from kg.settings import market_day
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import LICENCES, SCRIPT, SERVED_POLICY, STYLE, asset, one_page, page
from viz.exhibit.pictures import DEPTH, picture_of, view_shown, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from fastapi import FastAPI

    from kg.messages.words import Lang
    from kg.service.base import KnowledgeBase

_MOST_IDS: Final = 60
_MOST_PICTURES: Final = 256  # of about 50 KB
_TOKEN: Final = "X-Liantu-Token"  # noqa: S105 - the name of a header
_KINDS: Final = {SCRIPT: "text/javascript", STYLE: "text/css", LICENCES: "text/plain"}
_Name = Annotated[str, Query(min_length=1, max_length=200)]


class CurrentContent:
    """The content of the current state of a base; made anew when the base has changed."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._lock = kb, Lock()
        self._state = ""
        self._content: ExhibitContent | None = None
        self._pictures: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self) -> ExhibitContent:
        """Return the content of the base as it is now."""
        with self._lock:
            state = self._kb.store.state()
            if self._content is None or state != self._state:
                view = self._kb.store.view()
                self._content = ExhibitContent(self._kb.store, view, min_confidence=self._kb.min_confidence)
                self._state = state
                self._pictures = OrderedDict()
            return self._content

    def picture(self, key: Hashable, make: Callable[[ExhibitContent], bytes]) -> bytes:
        """Return an answer about the base as it is now, made once until the base changes."""
        content, kept = self.get(), self._pictures
        with self._lock:
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
        made = make(content)
        with self._lock:
            kept[key] = made
            if len(kept) > _MOST_PICTURES:
                kept.popitem(last=False)
        return made


class ReaderNotes:
    """A reader's notes and the names that are followed: a JSON file of texts by key."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()

    def all(self) -> dict[str, str]:
        """Return what is kept; a file that is damaged counts as empty."""
        return self._read() or {}

    def _read(self) -> dict[str, str] | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep(self, key: str, text: str) -> None:
        """Keep a text, or with "" nothing, under a key."""
        with self._lock:
            if self._read() is None:  # nobody's notes are overwritten
                self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
            kept = {name: each for name, each in self.all().items() if name != key} | ({key: text} if text else {})
            with replacing(self._path) as file:
                file.write(msgspec.json.format(msgspec.json.encode(kept)).decode())


def explorer_app(kb: KnowledgeBase, *, lang: Lang, now: Callable[[], datetime], notes: Path | None = None) -> FastAPI:
    """Return the explorer's application.

    Args:
        kb: the base; the application closes it when it ends.
        lang: the language that the page starts with.
        now: the clock for judgements.
        notes: the file of the reader's notes; without one the browser keeps them.
    """
    app = create_app(kb)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    content, token = CurrentContent(kb), secrets.token_urlsafe(24)
    # read the whole base, so that the first page need not wait
    whole = content.get()
    _, runs = whole.contested, whole.meta["runs"]
    for day in runs[-1:]:
        whole.run(day)
    _add_records(app, content)
    _add_pictures(app, kb, content)
    _add_file(app, kb, lang=lang)
    _add_judging(app, kb, token=token, now=now)
    if notes:
        _add_notes(app, ReaderNotes(notes), token=token)
    _add_page(app, content, {"token": token, "notes": notes is not None}, lang=lang)
    return app


def _add_records(app: FastAPI, content: CurrentContent) -> None:
    def records(entity: Annotated[list[str], Query(alias="id", max_length=_MOST_IDS)]) -> Response:
        return _json(content.get().records(entity))

    def run(day: int) -> Response:
        found = content.get().run(day)
        return problem(HTTPStatus.NOT_FOUND) if found is None else _json(found)

    def members(day: int, theme: _Name) -> Response:
        found = content.get().members(day, theme)
        return problem(HTTPStatus.NOT_FOUND) if found is None else _json(found)

    def lives() -> Response:
        return _json(content.get().lives())

    def contested() -> Response:
        return _json(content.get().contested)

    routes: list[Callable[..., Response]] = [records, run, members, lives, contested]
    for answer in routes:
        app.add_api_route(f"/explorer/{answer.__name__}", answer, response_model=None, include_in_schema=False)


def _add_pictures(app: FastAPI, kb: KnowledgeBase, content: CurrentContent) -> None:
    def picture(
        *,
        view: Literal["chain", "factor", "path"],
        entity: Annotated[list[_Name], Query(alias="id", min_length=1, max_length=2)],
        as_of: date | None = None,
        min_confidence: Annotated[float | None, Query(ge=0, le=1)] = None,
        depth: Annotated[int, Query(ge=1, le=4)] = DEPTH,
        direction: Literal["up", "down"] = "up",
    ) -> Response:
        if view == "path" and len(entity) < len(("first", "second")):
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "a path needs two ids")
        sign = 1 if direction == "up" else -1

        def make(now: ExhibitContent) -> bytes:
            with kb.session(as_of=as_of, min_confidence=min_confidence) as session:
                found = picture_of(session, view, entity, depth=depth, direction=sign)
                return msgspec.json.encode({**wire(found), "records": now.behind(found)} if found else None)

        asked = (view, *entity, as_of, min_confidence, depth, direction)
        return _encoded(content.picture(asked, make))

    app.add_api_route("/explorer/picture/{view}", picture, response_model=None, include_in_schema=False)


def _add_file(app: FastAPI, kb: KnowledgeBase, *, lang: Lang) -> None:
    def file(
        *,
        view: Literal["company", "chain", "factor", "path", "theme", "common"],
        entity: Annotated[list[_Name], Query(alias="id", min_length=1, max_length=2)],
        as_of: date | None = None,
        depth: Annotated[int, Query(ge=1, le=4)] = DEPTH,
        direction: Literal["up", "down"] = "up",
        query: Annotated[str, Query(max_length=2000)] = "",
    ) -> Response:
        if view == "path" and len(entity) < len(("first", "second")):
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "a path needs two ids")
        sign = 1 if direction == "up" else -1
        with kb.session(as_of=as_of) as session:
            try:
                shown = view_shown(session, view, entity, depth=depth, direction=sign, query=query)
            except QuestionError as error:
                return problem(HTTPStatus.NOT_FOUND, str(error))
            least = session.min_confidence
            content = ExhibitContent(kb.store, session.view, min_confidence=least, shown=shown, alone=True)
            written = one_page(content, lang=lang)
        named = f"attachment; filename*=UTF-8''{quote(shown.title, safe='')}.html"
        headers = {"Content-Disposition": named, "Cache-Control": "no-store"}
        return Response(written, media_type="text/html", headers=headers)

    app.add_api_route("/explorer/file", file, response_model=None, include_in_schema=False)


def _add_notes(app: FastAPI, notes: ReaderNotes, *, token: str) -> None:
    def kept() -> Response:
        return _json(notes.all())

    def keep(*, request: Request, key: _Name, text: Annotated[str, Query(max_length=1000)] = "") -> Response:
        _check_token(request, token)
        notes.keep(key, text)
        return _json({"key": key})

    app.add_api_route("/explorer/notes", kept, response_model=None, include_in_schema=False)
    app.add_api_route("/explorer/notes", keep, methods=["POST"], response_model=None, include_in_schema=False)


def _add_judging(app: FastAPI, kb: KnowledgeBase, *, token: str, now: Callable[[], datetime]) -> None:
    def judge(*, request: Request, subject: _Name, name: _Name, document: _Name, by: _Name, why: _Name) -> Response:
        _check_token(request, token)
        found = kb.store.view().entity(subject)
        if found is None:
            return problem(HTTPStatus.NOT_FOUND, f"{subject}: no such entity in the knowledge base")
        other = entity_id(found.kind, f"{name}（另指）")
        split = _judgement(Verdict.SPLIT, subject, now(), by=by, why=why)
        return _judged(kb, replace(split, object=other, name=name, documents=(document,)))

    def revoke(*, request: Request, judgement: _Name, by: _Name, why: _Name) -> Response:
        _check_token(request, token)
        return _judged(kb, _judgement(Verdict.REVOKE, judgement, now(), by=by, why=why))

    routes: dict[str, Callable[..., Response]] = {"judge": judge, "revoke": revoke}
    for name, answer in routes.items():
        app.add_api_route(f"/explorer/{name}", answer, methods=["POST"], response_model=None, include_in_schema=False)


def _add_page(app: FastAPI, content: CurrentContent, own: dict[str, Any], *, lang: Lang) -> None:
    def index() -> Response:
        meta = {**content.get().meta, **own, "mode": "served"}
        headers = {"Content-Security-Policy": SERVED_POLICY, "Cache-Control": "no-store", "X-Frame-Options": "DENY"}
        return Response(page(meta, lang=lang), media_type="text/html", headers=headers)

    def bundle(name: str) -> Response:
        if name not in _KINDS:
            return problem(HTTPStatus.NOT_FOUND)
        return Response(asset(name), media_type=_KINDS[name], headers={"Cache-Control": "no-cache"})

    app.add_api_route("/", index, response_model=None, include_in_schema=False)
    app.add_api_route("/{name}", bundle, response_model=None, include_in_schema=False)


def _json(data: Any) -> Response:
    return _encoded(msgspec.json.encode(data))


def _encoded(data: bytes) -> Response:
    return Response(data, media_type="application/json", headers={"Cache-Control": "no-store"})


def _check_token(request: Request, token: str) -> None:
    given = request.headers.get(_TOKEN, "")
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise HTTPException(HTTPStatus.FORBIDDEN)


def _judgement(verdict: Verdict, subject: str, moment: datetime, *, by: str, why: str) -> Judgement:
    return Judgement(
        id="",
        verdict=verdict,
        subject=subject,
        published_on=market_day(moment),
        recorded_at=moment.astimezone(UTC),
        by=by,
        why=why,
    )


def _judged(kb: KnowledgeBase, judgement: Judgement) -> Response:
    """Record a judgement; one that the store refuses is answered with the reason."""
    try:
        with kb.store.writer() as writer:
            kept = writer.judge(judgement)
    except (JudgementRefused, StoreLocked) as error:
        return problem(HTTPStatus.CONFLICT, str(error))
    return problem(HTTPStatus.CONFLICT, "that is judged already") if kept is None else _json({"id": kept.id})
