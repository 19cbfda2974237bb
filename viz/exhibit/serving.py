"""The explorer over HTTP: the query API, the page, records packed on request, and judgements from the page itself.

The query API stays read-only. The two routes that write a judgement answer only requests that carry the token which the
page of this process holds, so that no other site can send them for the reader.
"""

from __future__ import annotations

import hmac
import secrets
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from fastapi import Query, Request
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from kg.errors import JudgementRefused, KgError
from kg.ids import entity_id
from kg.judgement import Judgement, Verdict
from kg.service.app import create_app
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import LICENCES, SCRIPT, SERVED_POLICY, STYLE, asset, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from fastapi import FastAPI

    from kg.relations import Lang
    from kg.service.base import KnowledgeBase
    from kg.store.port import View

_MOST_IDS: Final = 60
_TOKEN: Final = "X-Liantu-Token"  # noqa: S105 - the name of a header
_KINDS: Final = {SCRIPT: "text/javascript", STYLE: "text/css", LICENCES: "text/plain"}
_Name = Annotated[str, Query(min_length=1, max_length=200)]


class CurrentContent:
    """The content of the current state of a base; made anew when the base has changed."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._lock = kb, Lock()
        self._revision = -1
        self._reader: AbstractContextManager[View] | None = None
        self._content: ExhibitContent | None = None

    def get(self) -> ExhibitContent:
        """Return the content of the base as it is now."""
        with self._lock:
            revision = self._kb.store.revision()
            if self._content is None or revision != self._revision:
                view = self._kb.store.view()
                self._content = ExhibitContent(self._kb.store, view, min_confidence=self._kb.min_confidence)
                self._revision = revision
            return self._content


def explorer_app(kb: KnowledgeBase, *, lang: Lang, now: Callable[[], datetime]) -> FastAPI:
    """Return the explorer's application.

    Args:
        kb: the base, which stays the caller's to close.
        lang: the language that the page starts with.
        now: the clock for judgements.
    """
    app = create_app(kb)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    content, token = CurrentContent(kb), secrets.token_urlsafe(24)

    def index() -> Response:
        meta = {**content.get().meta(), "mode": "served", "token": token}
        headers = {"Content-Security-Policy": SERVED_POLICY, "Cache-Control": "no-store", "X-Frame-Options": "DENY"}
        return Response(page(meta, lang=lang), media_type="text/html", headers=headers)

    def bundle(name: str) -> Response:
        if name not in _KINDS:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(asset(name), media_type=_KINDS[name], headers={"Cache-Control": "no-cache"})

    def records(entity: Annotated[list[str], Query(alias="id", max_length=_MOST_IDS)]) -> Response:
        return _json(content.get().records(entity))

    def run(day: int) -> Response:
        found = content.get().run(day)
        if found is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return _json(found)

    def lives() -> Response:
        return _json(content.get().lives())

    def judge(request: Request, subject: _Name, name: _Name, document: _Name, by: _Name, why: _Name) -> Response:
        _check_token(request, token)
        kind = subject.partition(":")[0]
        found = kb.store.view().entity(subject)
        if found is None:
            raise JudgementRefused(f"{subject or kind}: no such entity in the knowledge base")
        other = entity_id(found.kind, f"{name}（另指）")
        return _judged(kb, _judgement(Verdict.SPLIT, subject, now(), by=by, why=why, object=other, name=name, documents=(document,)))

    def revoke(request: Request, judgement: _Name, by: _Name, why: _Name) -> Response:
        _check_token(request, token)
        return _judged(kb, _judgement(Verdict.REVOKE, judgement, now(), by=by, why=why))

    for path, answer in (("/", index), ("/explorer/records", records), ("/explorer/run", run), ("/explorer/lives", lives)):
        app.add_api_route(path, answer, response_model=None, include_in_schema=False)
    for path, answer in (("/explorer/judge", judge), ("/explorer/revoke", revoke)):
        app.add_api_route(path, answer, methods=["POST"], response_model=None, include_in_schema=False)
    app.add_api_route("/{name}", bundle, response_model=None, include_in_schema=False)
    return app
