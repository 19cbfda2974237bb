"""Batch files: requests as the JSON lines that OpenAI's batch interface takes, and replies of any origin read back.

https://platform.openai.com/docs/guides/batch describes both formats; Anthropic's result lines are read too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kg.llm.port import ModelError, Reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kg.llm.port import Request

_KEY, _CUSTOM = "request:", "liantu-"  # custom ids are limited to letters, digits, - and _ at some providers
_CUSTOM_ID = re.compile(rf"{_CUSTOM}([0-9a-f]{{32}})")


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One line of a reply file: the key of its request and the reply, or the cause why there is none."""

    number: int
    key: str
    reply: Reply | None
    cause: str = ""
    model: str = ""


def write_batch(path: Path, model: str, requests: Iterable[tuple[str, Request]]) -> int:
    """Write requests by key to a file and return their number.

    Raises:
        ModelError: when the file cannot be written.
    """
    count = 0
    try:
        with path.open("w", encoding="utf-8", errors="replace") as file:
            for key, request in requests:
                line = {
                    "custom_id": _CUSTOM + key.removeprefix(_KEY),
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": chat_body(model, request),
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
    except OSError as error:
        raise ModelError(str(path), f"cannot be written: {error.strerror}") from error
    return count


def chat_body(model: str, request: Request) -> dict[str, Any]:
    """Return the body of a chat completion."""
    return {
        "model": model,
        "messages": [{"role": role, "content": content} for role, content in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.most_tokens,
    }


def read_batch(path: Path) -> Iterator[BatchLine]:
    """Yield the lines of a reply file; an unreadable one has a cause and no key.

    Raises:
        ModelError: when the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw.strip():
                    yield _line(number, raw)
    except OSError as error:
        raise ModelError(str(path), f"cannot be read: {error.strerror}") from error


def _line(number: int, raw: bytes) -> BatchLine:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return BatchLine(number, "", None, "not JSON")
    match = _CUSTOM_ID.fullmatch(str(data.get("custom_id", ""))) if isinstance(data, dict) else None
    if match is None:
        return BatchLine(number, "", None, "no custom_id that liantu wrote")
    key = _KEY + match[1]
    body = _body(data)
    text, cut = _text(body)
    if text is None:
        return BatchLine(number, key, None, f"no content: {_cause(data)}"[:200])
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    spent = [_count(counts, "prompt_tokens", "input_tokens"), _count(counts, "completion_tokens", "output_tokens")]
    return BatchLine(number, key, Reply(text, spent[0], spent[1], cut=cut), model=str(body.get("model") or ""))


def _body(data: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a line that holds the completion."""
    for path in (("response", "body"), ("result", "message"), ("response",), ("body",)):
        found: Any = data
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict):
            return found
    return data


def _text(body: dict[str, Any]) -> tuple[str | None, bool]:
    """Return the text of a completion, None if there is none, and whether it was cut at the limit."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    content = (message if isinstance(message, dict) else body).get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    cut = "length" in str(choice.get("finish_reason")) or body.get("stop_reason") == "max_tokens"
    return (content, cut) if isinstance(content, str) and content.strip() else (None, cut)


def _cause(data: dict[str, Any]) -> str:
    error = (
        data.get("error") or (data.get("result") or {}).get("error")
        if isinstance(data.get("result"), dict)
        else data.get("error")
    )
    return json.dumps(error, ensure_ascii=False) if error else "empty"


def _count(usage: dict[str, Any], *names: str) -> int:
    return next((value for name in names if isinstance(value := usage.get(name), int)), 0)
