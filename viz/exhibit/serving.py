"""The explorer over HTTP: the query API, the page, records packed on request, and judgements from the page itself.

The query API stays read-only. The two routes that write a judgement answer only requests that carry the token which the
page of this process holds, so that no other site can send them for the reader.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import replace
from datetime import UTC, date, datetime  # annotations that FastAPI reads at run time
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from fastapi import Query, Request  # annotations that FastAPI reads at run time
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from kg.errors import JudgementRefused, StoreLocked
from kg.ids import entity_id
from kg.judgement import Judgement, Verdict
from kg.service.app import create_app
from kg.service.problems import problem
from kg.settings import market_day
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import LICENCES, SCRIPT, SERVED_POLICY, STYLE, asset, page
from viz.exhibit.pictures import DEPTH, picture_of, wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from kg.messages.words import Lang
    from kg.service.base import KnowledgeBase

_MOST_IDS: Final = 60
_TOKEN: Final = "X-Liantu-Token"  # noqa: S105 - the name of a header
_KINDS: Final = {SCRIPT: "text/javascript", STYLE: "text/css", LICENCES: "text/plain"}
_Name = Annotated[str, Query(min_length=1, max_length=200)]


class CurrentContent:
    """The content of the current state of a base; made anew when the base has changed."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._lock = kb, Lock()
        self._state = ""
        self._content: ExhibitContent | None = None

    def get(self) -> ExhibitContent:
        """Return the content of the base as it is now."""
        with self._lock:
            state = self._kb.store.state()
            if self._content is None or state != self._state:
                view = self._kb.store.view()
                self._content = ExhibitContent(self._kb.store, view, min_confidence=self._kb.min_confidence)
                self._state = state
            return self._content


def explorer_app(kb: KnowledgeBase, *, lang: Lang, now: Callable[[], datetime]) -> FastAPI:
    """Return the explorer's application.

    Args:
        kb: the base; the application closes it when it ends.
        lang: the language that the page starts with.
        now: the clock for judgements.
    """
    app = create_app(kb)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    content, token = CurrentContent(kb), secrets.token_urlsafe(24)
    content.get().meta  # noqa: B018 - reads the whole base, so that the first page need not wait
    _add_records(app, content)
    _add_pictures(app, kb)
    _add_judging(app, kb, token=token, now=now)
    _add_page(app, content, token=token, lang=lang)
    return app


def _add_records(app: FastAPI, content: CurrentContent) -> None:
    def records(entity: Annotated[list[str], Query(alias="id", max_length=_MOST_IDS)]) -> Response:
        return _json(content.get().records(entity))

    def run(day: int) -> Response:
        found = content.get().run(day)
        return problem(HTTPStatus.NOT_FOUND) if found is None else _json(found)

    def lives() -> Response:
        return _json(content.get().lives())

    routes: dict[str, Callable[..., Response]] = {"records": records, "run": run, "lives": lives}
    for name, answer in routes.items():
        app.add_api_route(f"/explorer/{name}", answer, response_model=None, include_in_schema=False)


def _add_pictures(app: FastAPI, kb: KnowledgeBase) -> None:
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
        with kb.session(as_of=as_of, min_confidence=min_confidence) as session:
            found = picture_of(session, view, entity, depth=depth, direction=sign)
            return _json(wire(found) if found else None)

    app.add_api_route("/explorer/picture/{view}", picture, response_model=None, include_in_schema=False)


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


def _add_page(app: FastAPI, content: CurrentContent, *, token: str, lang: Lang) -> None:
    def index() -> Response:
        meta = {**content.get().meta, "mode": "served", "token": token}
        headers = {"Content-Security-Policy": SERVED_POLICY, "Cache-Control": "no-store", "X-Frame-Options": "DENY"}
        return Response(page(meta, lang=lang), media_type="text/html", headers=headers)

    def bundle(name: str) -> Response:
        if name not in _KINDS:
            return problem(HTTPStatus.NOT_FOUND)
        return Response(asset(name), media_type=_KINDS[name], headers={"Cache-Control": "no-cache"})

    app.add_api_route("/", index, response_model=None, include_in_schema=False)
    app.add_api_route("/{name}", bundle, response_model=None, include_in_schema=False)


def _json(data: Any) -> Response:
    return Response(msgspec.json.encode(data), media_type="application/json", headers={"Cache-Control": "no-store"})


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
