"""Any endpoint that speaks the OpenAI chat wire, POST {url}/chat/completions: vLLM, llama.cpp, Ollama, clouds.

httpx is an optional extra (`pip install 'liantu[llm]'`): without a model Liantu needs no HTTP client.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kg.llm.port import ModelError, Reply, request_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from kg.llm.port import Request

_TRIES = 4
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds
_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LARGEST_REPLY = 1 << 20  # bytes; an endpoint that sends more is not answering this question


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is: the address up to and with /v1, the model's name, a key if one is needed, seconds to wait."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0


class OpenAiCompatible:
    """A model behind an endpoint; a request that meets a busy server is asked again, later each time."""

    def __init__(self, endpoint: Endpoint, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._endpoint, self._pause = endpoint, pause
        http = _httpx(endpoint.url)
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        try:
            self._client: httpx.Client = http.Client(
                timeout=endpoint.timeout, headers=headers, trust_env=False, follow_redirects=False
            )
            http.URL(endpoint.url)
        except (http.InvalidURL, UnicodeEncodeError) as error:
            raise ModelError(endpoint.url, f"address or key cannot be used: {error}") from error
        self._failures = (http.HTTPError, http.InvalidURL)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._endpoint.model

    def complete(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ModelError: after four tries, or at once when the endpoint refuses.
        """
        cause = ""
        for attempt in range(_TRIES):
            if attempt:
                self._pause(min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE))
            try:
                response = self._asked(request)
            except self._failures as error:
                cause = f"no answer: {error or type(error).__name__}"
                continue
            if response.status_code not in _BUSY:
                return self._read(response)
            cause = f"busy: status {response.status_code}"
        raise ModelError(self._endpoint.url, f"{cause} ({_TRIES} tries)")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _asked(self, request: Request) -> httpx.Response:
        body = {
            "model": self.name,
            "messages": [{"role": role, "content": content} for role, content in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.most_tokens,
        }
        # A gateway that knows the header answers a repeated request without a second run of the model.
        headers = {"Idempotency-Key": request_key(self.name, request)}
        return self._client.post(f"{self._endpoint.url.rstrip('/')}/chat/completions", json=body, headers=headers)

    def _read(self, response: httpx.Response) -> Reply:
        if response.status_code != 200:  # noqa: PLR2004 -- OK
            said = response.text[:200].replace("\n", " ")
            raise ModelError(self._endpoint.url, f"refused with status {response.status_code}: {said}")
        if len(response.content) > _LARGEST_REPLY:
            raise ModelError(self._endpoint.url, f"a reply of {len(response.content):,} bytes")
        try:
            data = response.json()
            text = data["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ModelError(self._endpoint.url, "the reply is no chat completion") from error
        return Reply(str(text or ""), *_counted(data))


def _counted(data: Mapping[str, Any]) -> tuple[int, int]:
    usage = data.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    prompt, reply = [count if isinstance(count, int) else 0 for count in counts] or [0, 0]
    return prompt, reply


def _httpx(url: str) -> Any:
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        raise ModelError(url, "an HTTP client is missing; install it with `pip install 'liantu[llm]'`") from error
