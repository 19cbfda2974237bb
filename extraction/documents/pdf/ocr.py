"""Read pages without a text layer by OCR: rapidocr with the models in its wheel, the extra `ocr`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium

from extraction.documents.pdf.lines import Page, PageLine, TextRun
from extraction.worker_process import MEGABYTE, allow_memory, report_progress

if TYPE_CHECKING:
    import pypdfium2

INSTALL = "install the OCR extra (pip install 'liantu[ocr]') or run OCR on it first"
MAX_PAGES = 100  # at up to 15 s a page
_MEMORY = 1024 * MEGABYTE  # of the models and one page
_SCALE = 150 / 72  # 150 dots an inch: 8-point Chinese characters are 17 pixels high
_MAX_PIXELS = 4_000_000  # an A4 page has 2.2 million
_MAX_THREADS = 4
_MIN_CONFIDENCE = 0.5  # lines below it are scraps of figures


def installed() -> bool:
    """Return whether the extra is installed."""
    return find_spec("rapidocr") is not None


def is_scan(page: pypdfium2.PdfPage) -> bool:
    """Return whether a page without text shows an image."""
    return next(page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=3), None) is not None


@dataclass(slots=True)
class OcrReader:
    """Reads the scanned pages of one document.

    Attributes:
        legibility: mean confidence of the characters by page.
    """

    legibility: dict[int, float] = field(default_factory=dict)
    _engine: Any = None

    def read(self, page: pypdfium2.PdfPage, number: int) -> Page:
        """Return the lines of a page, in reading order by height and column."""
        report_progress()
        width, height = page.get_size()
        scale = min(_SCALE, sqrt(_MAX_PIXELS / max(1.0, width * height)))
        engine = self._loaded()
        pixels = np.asarray(page.render(scale=scale).to_pil().convert("RGB"))[:, :, ::-1]  # the models want BGR
        found = engine(pixels)
        lines: list[PageLine] = []
        sure = characters = 0.0
        for box, text, score in zip(*_columns(found), strict=True):
            if score < _MIN_CONFIDENCE or not text.strip():
                continue
            left, top = (float(value) / scale for value in box.min(axis=0))
            right, bottom = (float(value) / scale for value in box.max(axis=0))
            lines.append(PageLine((TextRun(left, right, " ".join(text.split())),), top, bottom, bottom - top))
            sure, characters = sure + score * len(text), characters + len(text)
        if lines:
            self.legibility[number] = sure / characters
        return Page(number, width, height, tuple(lines))

    def _loaded(self) -> Any:
        if self._engine is None:
            allow_memory(_MEMORY)
            # Imported here: it is an extra.
            from rapidocr import RapidOCR  # noqa: PLC0415

            threads = min(_MAX_THREADS, os.cpu_count() or 1)
            self._engine = RapidOCR(
                params={
                    "Global.log_level": "critical",
                    "Global.use_cls": False,  # pages are upright
                    "Rec.rec_batch_num": 1,  # a batch of wide lines takes a gigabyte
                    "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
                    "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
        return self._engine


def _columns(found: Any) -> tuple[Any, Any, Any]:
    """Return boxes, texts and scores; a page without text has None for each."""
    return (found.boxes, found.txts, found.scores) if found.boxes is not None else ((), (), ())
