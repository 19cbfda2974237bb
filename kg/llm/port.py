"""What a language model is here: a callable from messages to text; who answers, over what wire, is not its affair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kg.errors import KgError
from kg.ids import digest

_WIDE_FROM = 0x2E80  # CJK and beyond: about a token a character with every tokenizer in use
_NARROW_PER_TOKEN = 3


class ModelError(KgError):
    """A model that does not answer, or not in words that can be used."""

    def __init__(self, where: str, cause: str) -> None:
        super().__init__(f"model {where}: {cause}")


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model: `messages` are (role, content), `most_tokens` bounds the reply."""

    messages: tuple[tuple[str, str], ...]
    most_tokens: int = 1024
    temperature: float = 0.0

    @property
    def tokens(self) -> int:
        """What it will cost to ask, estimated, without the reply."""
        return sum(tokens(content) + 4 for _, content in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer and what it cost, as the endpoint counted it (0 when it did not)."""

    text: str
    prompt_tokens: int = 0
    reply_tokens: int = 0


class Model(Protocol):
    """Something that answers; safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name: with the request it decides the reply."""

    def complete(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ModelError: when there is none after the retries.
        """


def request_key(name: str, request: Request) -> str:
    """Return the hash of all that decides a reply: the same key is never paid for twice."""
    parts = [name, str(request.most_tokens), f"{request.temperature:g}"]
    return "request:" + digest((*parts, *(text for message in request.messages for text in message)))


def tokens(text: str) -> int:
    """Return an upper estimate of a text's tokens, the same for every model.

    >>> tokens("碳酸锂"), tokens("lithium"), tokens("")
    (3, 3, 0)
    """
    wide = sum(ord(character) >= _WIDE_FROM for character in text)
    return wide + -(-(len(text) - wide) // _NARROW_PER_TOKEN)
