"""Open the explorer of a base in Firefox: `python -m benchmarks.explorer_firefox KB`.

Debian's `firefox-esr` is driven by Marionette, its own protocol of JSON over a socket: Debian has no geckodriver, and
playwright's Firefox is a build of its own. Each view must draw names; Enter opens the evidence.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, Self

from benchmarks.explorer_tasks import Names, serving
from kg.service.base import open_kb

_WAIT: Final = 120  # seconds
_READY: Final = "return !document.querySelector('.wait') && document.querySelectorAll(arguments[0]).length"

_ENTER: Final = """
    document.querySelector('g.node').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))
"""


class Firefox:
    """A headless Firefox; an instance is a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        Path(self._folder.name, "user.js").write_text(f'user_pref("marionette.port", {self._port});\n')
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        if program is None:
            sys.exit("no Firefox on this machine: apt-get install firefox-esr")
        arguments = [program, "--headless", "--marionette", "--profile", self._folder.name]
        self._process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._count = 0

    def __enter__(self) -> Self:
        for _ in range(_WAIT):
            try:
                self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=_WAIT)
                break
            except OSError:
                time.sleep(1)
        self._read()
        self.ask("WebDriver:NewSession", {})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=_WAIT)
        self._folder.cleanup()

    def ask(self, command: str, parameters: dict[str, Any]) -> Any:
        """Send a command and return its value."""
        self._count += 1
        message = json.dumps([0, self._count, command, parameters]).encode()
        self._socket.sendall(f"{len(message)}:".encode() + message)
        _, _, error, value = self._read()
        if error:
            raise RuntimeError(error["message"])
        return value.get("value", value) if isinstance(value, dict) else value

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._socket.recv(1)
        left = int(length[:-1])
        data = b""
        while len(data) < left:
            data += self._socket.recv(left - len(data))
        return json.loads(data)

    def open(self, address: str, selector: str) -> int:
        """Open an address and return how many elements a selector finds in the end."""
        self.ask("WebDriver:Navigate", {"url": "about:blank"})
        self.ask("WebDriver:Navigate", {"url": address})
        return self.found(selector)

    def found(self, selector: str) -> int:
        """Wait until a selector finds something; return how much, 0 if nothing comes."""
        for _ in range(_WAIT * 2):
            count = self.ask("WebDriver:ExecuteScript", {"script": _READY, "args": [selector]})
            if count:
                return int(count)
            time.sleep(0.5)
        return 0


def main(kb_path: str) -> int:
    failed = 0
    with open_kb(kb_path) as kb, serving(kb) as home, Firefox() as firefox:
        names = Names()
        firm, other = (kb.entities(name)[0].id for name in (names.company, names.other))
        price, chain = (kb.entities(name)[0].id for name in (names.price, names.chain))
        views = {
            "": "#picture g.node, .chip",
            f"company/{firm}": "g.node",
            f"company/{firm}?tab=table": "tbody tr",
            f"factor/{price}": "g.node",
            f"chain/{chain}": "g.node",
            f"path/{firm}/{other}": "g.node",
            f"common/{firm}/{other}": "g.node",
            "contested?e=list": ".drawer ul.links li",
            f"network/{firm}": ".network canvas",
        }
        for view, selector in views.items():
            count = firefox.open(f"{home}#/{view}", selector)
            failed += not count
            print(f"{view or 'home'}: {count} of {selector}", flush=True)
        firefox.open(f"{home}#/company/{firm}", "g.node")
        firefox.ask("WebDriver:ExecuteScript", {"script": _ENTER, "args": []})
        opened = firefox.found(".drawer h2")
        print(f"Enter opens the evidence: {bool(opened)}")
    return failed + (not opened)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
