"""Client for OpenAI-compatible chat endpoints (POST {url}/chat/completions): vLLM, llama.cpp, Ollama, clouds.

httpx is an optional dependency (`pip install 'liantu[llm]'`), needed only to use a model.
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
_RETRY_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LARGEST_REPLY = 1 << 20  # bytes; a larger reply cannot be valid


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Base URL including /v1, model name, optional API key, and timeout in seconds."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0


class OpenAiCompatible:
    """A model behind an endpoint; retries with exponential backoff when the server is busy."""

    def __init__(self, endpoint: Endpoint, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._endpoint, self._sleep = endpoint, pause
        http = _httpx(endpoint.url)
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        try:
            self._client: httpx.Client = http.Client(
                timeout=endpoint.timeout, headers=headers, trust_env=False, follow_redirects=False
            )
            http.URL(endpoint.url)
        except (http.InvalidURL, UnicodeEncodeError) as error:
            raise ModelError(endpoint.url, f"invalid address or key: {error}") from error
        self._failures = (http.HTTPError, http.InvalidURL)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._endpoint.model

    def complete(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ModelError: after four attempts, or at once when the endpoint refuses the request.
        """
        cause = ""
        for attempt in range(_TRIES):
            if attempt:
                self._sleep(min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE))
            try:
                response = self._post(request)
            except self._failures as error:
                cause = f"no response: {error or type(error).__name__}"
                continue
            if response.status_code not in _RETRY_STATUS:
                return self._read(response)
            cause = f"busy: status {response.status_code}"
        raise ModelError(self._endpoint.url, f"{cause} ({_TRIES} tries)")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _post(self, request: Request) -> httpx.Response:
        body = {
            "model": self.name,
            "messages": [{"role": role, "content": content} for role, content in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.most_tokens,
        }
        # Gateways that support this header answer a repeated request without running the model again.
        headers = {"Idempotency-Key": request_key(self.name, request)}
        return self._client.post(f"{self._endpoint.url.rstrip('/')}/chat/completions", json=body, headers=headers)

    def _read(self, response: httpx.Response) -> Reply:
        if response.status_code != 200:  # noqa: PLR2004 -- OK
            detail = response.text[:200].replace("\n", " ")
            raise ModelError(self._endpoint.url, f"refused with status {response.status_code}: {detail}")
        if len(response.content) > _LARGEST_REPLY:
            raise ModelError(self._endpoint.url, f"the reply is too large: {len(response.content):,} bytes")
        try:
            data = response.json()
            text = data["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ModelError(self._endpoint.url, "the reply is not a chat completion") from error
        return Reply(str(text or ""), *_token_counts(data))


def _token_counts(data: Mapping[str, Any]) -> tuple[int, int]:
    usage = data.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    prompt, reply = [count if isinstance(count, int) else 0 for count in counts] or [0, 0]
    return prompt, reply


def _httpx(url: str) -> Any:
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        raise ModelError(url, "httpx is not installed; run `pip install 'liantu[llm]'`") from error
