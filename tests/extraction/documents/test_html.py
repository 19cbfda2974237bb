from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import DocumentError
from kg.model import BlockKind

PAGE = """<html><head><title>光伏点评 | 示例财讯</title>
<meta property="article:published_time" content="2024-12-02T09:00:00+08:00">
<meta name="author" content="张三"><style>p{color:red}</style></head>
<body><nav><a href="/">首页</a> 行情</nav>
<article><h1>光伏点评</h1><p>出口退税<b>下调</b>，组件<br>价格承压。</p><script>alert("x")</script>
<ul><li>硅料</li><li>硅片<ul><li>N型</li></ul></li></ul>
<table><caption>产能</caption><tr><th>公司</th><th>GW</th></tr><tr><td>隆基</td><td>120</td></tr></table>
<div>资料来源：Wind</div></article><footer>版权所有</footer></body></html>"""


def _blocks(document) -> list[tuple[object, ...]]:
    return [(b.kind, b.level, document.text[b.start : b.end]) for b in document.blocks]


def test_the_main_content_becomes_blocks(read_one):
    document = read_one("x.html", PAGE)
    assert (document.title, document.published_on, document.authors) == ("光伏点评", date(2024, 12, 2), ("张三",))
    assert _blocks(document) == [
        (BlockKind.HEADING, 1, "光伏点评"),
        (BlockKind.PARAGRAPH, 0, "出口退税下调，组件"),
        (BlockKind.PARAGRAPH, 0, "价格承压。"),
        (BlockKind.ITEM, 1, "硅料"),
        (BlockKind.ITEM, 1, "硅片"),
        (BlockKind.ITEM, 2, "N型"),
        (BlockKind.TABLE, 0, "产能\n公司 | GW\n隆基 | 120"),
    ]


def test_menus_and_footers_are_hidden_and_scripts_gone(read_one):
    document = read_one("x.html", PAGE)
    removed = {document.text[item.start : item.end]: item.reason for item in document.removed}
    assert removed == {"首页 行情": "navigation", "资料来源：Wind": "source-line", "版权所有": "navigation"}
    assert "alert" not in document.text
    assert "color" not in document.text


def test_a_layout_table_is_walked(read_one):
    page = (
        "<body><table><tr><td><table><tr><td>内</td><td>容</td></tr></table><p>正文一句。</p></td></tr></table></body>"
    )
    assert "正文一句。" in read_one("2025-01-02.html", page).text


def test_deep_nesting_ends(read_one):
    assert read_one("2025-01-02.html", "<div>" * 900 + "正文一句。").text == "正文一句。"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<table>",
                "<tr>",
                "<td>",
                "</table>",
                "<li>",
                "<ul>",
                "价格",
                " ",
                "<h2>",
                "<br>",
                "<nav>",
                "</nav>",
                "<article>",
            ]
        ),
        min_size=1,
        max_size=25,
    )
)
def test_any_markup_is_carved_whole(read, check, parts):
    for found in read("2025-01-02.html", "".join(parts)):
        if not isinstance(found, DocumentError):
            check(found)


SEEN = "宁德时代2024年实现营业收入3620亿元。"
UNSEEN = "宁德时代向小米集团供应动力电池。"


def _page(sheet: str, body: str) -> str:
    head = f"<html><head><title>点评</title>{sheet}</head>"
    return f"{head}<body><p>2025-04-28</p><p>{SEEN}</p>{body}</body></html>"


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display:none">{}</div>',
        '<div style="display : none !important">{}</div>',
        "<p hidden>{}</p>",
        '<span style="visibility: hidden">{}</span>',
        '<p style="color:#fff;background:#fff">{}</p>',
        '<p style="color: white">{}</p>',
        '<p style="color:rgb(255, 255, 255)">{}</p>',
        '<font color="#FFFFFF">{}</font>',
        '<div style="background:#123456"><p style="color:#123456">{}</p></div>',
        '<p style="opacity:0">{}</p>',
        '<p style="opacity:0.0">{}</p>',
        '<p style="font-size:0">{}</p>',
        '<p style="font-size:1px">{}</p>',
        '<p style="font-size:1pt">{}</p>',
        '<p style="color:transparent">{}</p>',
        '<p style="color:rgba(0,0,0,0)">{}</p>',
        '<p style="position:absolute;left:-9999px">{}</p>',
        '<p style="text-indent:-999em">{}</p>',
        '<p class="x1">{}</p>',
        '<p id="y">{}</p>',
        '<div class="x1"><p><b>{}</b></p></div>',
        '<table><tr><td style="display:none">{}</td><td>a</td></tr></table>',
    ],
)
def test_what_a_reader_of_the_page_cannot_see_is_not_read(read_one, hidden):
    sheet = "<style>.x1{display:none} #y { visibility:hidden } .z, .dark{background:#000}</style>"
    document = read_one("a.html", _page(sheet, hidden.format(UNSEEN)))
    shown = [document.text[block.start : block.end] for block in document.blocks]
    assert SEEN in shown
    assert not any("小米" in text for text in shown)


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="color:#333">{}</p>',
        '<p style="display:block;font-size:12px;opacity:0.9">{}</p>',
        '<p style="font-size:1.2em">{}</p>',
        '<div style="background:#003366"><p style="color:#fff">{}</p></div>',
        '<div class="dark"><p style="color:white">{}</p></div>',
        '<table><tr bgcolor="#003366"><td style="color:white">{}</td></tr></table>',
        '<div style="background:url(a.png)"><p style="color:#fff">{}</p></div>',
        '<p class="printed">{}</p>',
        '<p style="left:-2px">{}</p>',
    ],
)
def test_what_a_reader_of_the_page_sees_is_read(read_one, shown):
    sheet = "<style>.dark{background:#000} @media print {.printed{display:none}} body{color:#fff}</style>"
    document = read_one("a.html", _page(sheet, shown.format(UNSEEN)))
    assert any("小米" in document.text[block.start : block.end] for block in document.blocks)
