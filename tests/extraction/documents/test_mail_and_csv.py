"""E-mails and comma-separated tables, read with the standard library."""

from __future__ import annotations

from datetime import date
from email.message import EmailMessage

import pytest

from kg.errors import DocumentError
from kg.model import BlockKind, Document

TEXT = "宁德时代2024年实现营业收入3620.13亿元。"
HEAD = "From: a@example.com\nTo: b@example.com\nSubject: {subject}\nDate: Mon, 28 Apr 2025 09:00:00 +0800\n"


def _mail(charset: str, encoded: bytes, subject: str = "note") -> bytes:
    kind = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    return (HEAD.format(subject=subject) + kind).encode() + encoded


@pytest.mark.parametrize(
    ("charset", "codec"),
    [("gb2312", "gb18030"), ("utf-8", "utf-8"), ("gbk", "gb18030"), ("us-ascii", "utf-8"), ("x-odd", "gb18030")],
)
def test_a_mail_is_decoded_whatever_it_states(read_one, charset, codec):
    document = read_one("a.eml", _mail(charset, TEXT.encode(codec)))
    assert (document.text.strip(), document.title, document.published_on) == (TEXT, "note", date(2025, 4, 28))


def test_subject_and_quoted_text_are_decoded(read_one):
    message = EmailMessage()
    message["Subject"], message["Date"] = "电池周报", "Mon, 28 Apr 2025 23:30:00 +0800"
    message.set_content(TEXT)
    message.add_alternative(f"<p>{TEXT}</p>", subtype="html")
    document = read_one("a.eml", bytes(message))
    assert (document.title, document.published_on) == ("电池周报", date(2025, 4, 28))
    assert document.text.strip() == TEXT


def test_a_mail_of_html_alone_is_read_without_what_it_hides(read_one):
    message = EmailMessage()
    message["Subject"], message["Date"] = "周报", "Mon, 28 Apr 2025 09:00:00 +0800"
    message.set_content(f"<p>{TEXT}</p><p style='display:none'>比亚迪减产。</p><p>二</p>", subtype="html")
    assert read_one("a.eml", bytes(message)).text.split("\n") == [TEXT, "二"]


def test_attachments_are_reported(read):
    message = EmailMessage()
    message["Subject"], message["Date"] = "周报", "Mon, 28 Apr 2025 09:00:00 +0800"
    message.set_content(TEXT)
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="report.pdf")
    document, fault = read("a.eml", bytes(message))
    assert isinstance(document, Document)
    assert isinstance(fault, DocumentError)
    assert "report.pdf" in fault.cause


@pytest.mark.parametrize(
    "data", [b"\x00\x01", b"Subject: a\n\n", b"Date: soon\n\ntext", b"Content-Type: multipart/x\n\n"]
)
def test_a_mail_that_cannot_be_read_is_a_fault(read, data):
    assert all(isinstance(item, DocumentError) for item in read("a.eml", data))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "gb18030"])
def test_a_csv_file_is_a_table(read_one, mark, codec):
    rows = [["公司", "2024A营业收入（亿元）"], ["宁德时代", "3620"], ['"比亚迪"', '"7771"']]
    document = read_one("table_20250428.csv", "\r\n".join(map(mark.join, rows)).encode(codec))
    (block,) = document.blocks
    assert block.kind is BlockKind.TABLE
    assert document.text == "公司 | 2024A营业收入（亿元）\n宁德时代 | 3620\n比亚迪 | 7771"
    assert document.published_on == date(2025, 4, 28)
