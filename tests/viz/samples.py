"""Text that a page must show and never run."""

from __future__ import annotations

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028{{7*7}}"
