"""Interface of a language model: messages in, text out. Provider and transport are left to implementations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from kg.errors import KgError
from kg.ids import digest

_WIDE_FROM = 0x2E80  # CJK and beyond: about one token per character with common tokenizers
_NARROW_PER_TOKEN = 3
_REASONING = re.compile(  # closed, never closed, or opened by the template
    r"<(think|thinking|reasoning|thought)>.*?(?:</\1>|\Z)|\A.*</(?:think|thinking|reasoning|thought)>",
    re.DOTALL | re.IGNORECASE,
)


class ModelError(KgError):
    """A model that does not respond, or whose reply is unusable."""

    def __init__(self, where: str, cause: str) -> None:
        super().__init__("model {where}: {cause}", where=where, cause=cause)


class ContextOverflow(ModelError):
    """A request that is too long for the model."""


class ModelRefused(ModelError):
    """A request that the model will not answer."""


class EmptyReply(ModelError):
    """A reply without an answer: empty, or reasoning only."""


class EndpointRefused(ModelError):
    """An endpoint that would refuse every request: wrong key, unknown model, no credit."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model: `messages` are (role, content), `most_tokens` limits the reply.

    `schema` is the JSON schema of the reply, for endpoints that can be held to one; it does not change what is asked.
    """

    messages: tuple[tuple[str, str], ...]
    most_tokens: int = 1024
    temperature: float = 0.0
    schema: str = ""

    @property
    def tokens(self) -> int:
        """Estimated prompt tokens."""
        return sum(tokens(content) + 4 for _, content in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with its token counts as reported by the endpoint (0 if not reported); `cut` if it ends at the limit."""

    text: str
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cut: bool = False

    @property
    def answer(self) -> str:
        """The text without what the model thinks aloud."""
        return _REASONING.sub("", self.text).strip()


class Model(Protocol):
    """A language model; implementations are thread-safe."""

    @property
    def name(self) -> str:
        """The model name, part of the request key."""

    def complete(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ModelError: when there is no reply after the retries.
        """

    def close(self) -> None:
        """End waiting requests with a ModelError and close the connections."""


def request_key(name: str, request: Request) -> str:
    """Hash everything that determines a reply, for caching."""
    parts = [name, str(request.most_tokens), f"{request.temperature:g}"]
    return "request:" + digest((*parts, *(text for message in request.messages for text in message)))


def tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text, independent of the model.

    >>> tokens("碳酸锂"), tokens("lithium"), tokens("")
    (3, 3, 0)
    """
    wide = sum(ord(character) >= _WIDE_FROM for character in text)
    return wide + -(-(len(text) - wide) // _NARROW_PER_TOKEN)
