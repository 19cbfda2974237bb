"""All texts of the pages in Chinese and English."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kg.messages.words import LANGUAGES, Lang

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LANGUAGES", "Lang", "word", "words"]

_WORDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        # kinds
        "company": ("公司", "Company"),
        "institution": ("机构", "Institution"),
        "person": ("人物", "Person"),
        "product": ("产品", "Product"),
        "business": ("业务", "Business"),
        "industry": ("行业", "Industry"),
        "theme": ("主题", "Theme"),
        "indicator": ("指标", "Indicator"),
        "event": ("事件", "Event"),
        "policy": ("政策", "Policy"),
        "region": ("地区", "Region"),
        # modality and polarity
        "asserted": ("陈述", "Asserted"),
        "planned": ("计划", "Planned"),
        "forecast": ("预测", "Forecast"),
        "conditional": ("有条件", "Conditional"),
        "rumoured": ("传闻", "Rumoured"),
        "negated": ("否认", "Negated"),
        "contested": ("有分歧", "Contested"),
        # signs
        "plus": ("同向 ＋", "Same direction +"),
        "minus": ("反向 －", "Opposite −"),
        "neutral": ("结构关系", "Structure"),
        # directions and changes
        "up": ("上升", "up"),
        "down": ("下降", "down"),
        "absent": ("不发生", "not happening"),
        "yoy": ("同比", "yoy"),
        "qoq": ("环比", "qoq"),
        "mom": ("环比", "mom"),
        "share": ("占比", "share"),
        "cagr": ("年复合", "CAGR"),
        "ytd": ("年初至今", "ytd"),
        "wow": ("周环比", "wow"),
        "change": ("变动", "change"),
        # qualifiers
        "product_of": ("产品", "product"),
        "revenue_share": ("占收入", "share of revenue"),
        "cost_share": ("占成本", "share of cost"),
        "rank": ("排名", "rank"),
        "rating": ("评级", "rating"),
        "no_code": ("无代码", "no code"),
        "none": ("", ""),
        # columns of a graph
        "上游": ("上游", "Upstream"),
        "中游": ("中游", "Midstream"),
        "下游": ("下游", "Downstream"),
        "位置未述": ("位置未述", "Position not stated"),
        "factor": ("起点", "Factor"),
        "effect": ("结果", "Effect"),
        "order_forward": ("{n} 阶影响", "Order {n} effect"),
        "order_back": ("{n} 阶原因", "Order {n} cause"),
        # titles
        "title_chain": ("{a} · 产业链", "{a} · industry chain"),
        "title_impact": ("{a}{d} · 影响路径", "{a} {d} · effects"),
        "title_causes": ("{a} · 成因路径", "{a} · causes"),
        "title_relate": ("{a} ↔ {b} · 关联路径", "{a} ↔ {b} · how they are connected"),
        "title_profile": ("{a} · 关系全景", "{a} · neighbourhood"),
        "title_theme": ("{a}", "{a}"),
        "title_ask": ("{a}", "{a}"),
        "theme_unnamed": ("未命名主题", "Unnamed theme"),
        "subtitle": (
            "{nodes} 个节点 · {edges} 条关系 · {facts} 条原文依据",
            "{nodes} nodes · {edges} links · {facts} quotes",
        ),
        "subtitle_figures": (" · {figures} 条数据", " · {figures} figures"),
        "subtitle_paths": ("{paths} 条路径 · ", "{paths} paths · "),
        # the page
        "as_of": ("截至 {day}", "As of {day}"),
        "as_of_latest": ("截至最新一篇文档", "As of the latest document"),
        "index_cut": (
            "只写最大的 {kept} 个主题；另有 {left} 个较小的主题未写（--most 可调）。",
            "Only the {kept} largest themes; {left} smaller ones are left out (see --most).",
        ),
        "cut": (
            "为便于阅读，图中只画最强的 {kept} 个节点；另有 {left} 个较弱的节点未画出。",
            "Only the {kept} strongest nodes are drawn; {left} weaker ones are left out.",
        ),
        "empty": ("没有可画的内容", "Nothing to draw"),
        "empty_why": (
            "截至所选日期，知识库中没有与「{a}」相关、且有原文依据的关系。可换一个名称、放宽截止日期，或先导入更多文档。",
            "No relations of “{a}” with supporting quotes as of that day. Try another name or a later day.",
        ),
        "empty_path": (
            "截至所选日期，未找到「{a}」与「{b}」之间有原文依据的路径。",
            "No path with supporting quotes from “{a}” to “{b}” as of that day.",
        ),
        "lonely": ("图中没有关系，只有孤立的节点。", "No links, only isolated nodes."),
        "search": ("按名称或代码查找", "Find by name or code"),
        "search_none": ("未找到", "Not found"),
        "search_found": ("找到 {n} 个，按回车看下一个", "{n} found; press Enter for the next"),
        "kinds": ("按类别筛选", "Filter by kind"),
        "legend": ("图例", "Legend"),
        "legend_line": ("连线", "Lines"),
        "zoom_in": ("放大", "Zoom in"),
        "zoom_out": ("缩小", "Zoom out"),
        "fit": ("全图", "Fit"),
        "picture": ("关系图：可用方向键移动、加减键缩放", "Graph: arrow keys move, + and - zoom"),
        "panel": ("原文依据", "Evidence"),
        "back": ("返回概览", "Back to overview"),
        "hint": (
            "点击图中的节点或连线，在此查看每条判断的原文、出处与日期。",
            "Click a node or a line to read the quote, source and day behind it.",
        ),
        "links": ("关系", "Links"),
        "members": ("成员", "Members"),
        "summary": ("摘要", "Summary"),
        "changes": ("本周新增", "New since last week"),
        "biography": ("传记", "Biography"),
        "names": ("名称", "Names"),
        "sizes": ("各周成员数", "Members by week"),
        "answer": ("回答", "Answer"),
        "no_evidence": ("这一关系没有可展示的原文。", "No quote available for this link."),
        "no_answer": ("未找到相关信息。", "No information found."),
        "page": ("第 {n} 页", "p. {n}"),
        "speaker": ("{name} 表示", "{name}"),
        "untitled": ("（无标题文档）", "(untitled document)"),
        "node_alone": ("此节点在图中没有关系。", "This node has no links in the graph."),
        "script_off": ("此图需要浏览器启用 JavaScript。", "This graph needs JavaScript."),
        "drawing": ("正在绘制…", "Drawing…"),
        "failed": ("绘图失败：", "Drawing failed: "),
        "more": ("另有 {n} 条", "{n} more"),
        "pages_about": ("打开页面", "Open page"),
        "pages_related": ("相关页面", "Related pages"),
        "open_source": ("打开原文", "Open the source"),
        "to_index": ("全部页面", "All pages"),
        "figures": ("数据", "Figures"),
        "figure_of": ("主体", "Of"),
        "figure_measure": ("指标", "Measure"),
        "figure_period": ("期间", "Period"),
        "figure_value": ("数值", "Value"),
        "figure_source": ("出处", "Source"),
        "folded": ("还有 {n} 个", "{n} more"),
        "unfold": ("全部展开（{n}）", "Show all {n}"),
        "fold": ("收起", "Fold"),
        # the index, and the retrieval source of an answer
        "index_title": ("链图 · 全部页面", "Liantu · all pages"),
        "index_none": ("还没有页面。", "No pages yet."),
        "pages_chain": ("产业链", "Industry chains"),
        "pages_impact": ("影响", "Effects"),
        "pages_causes": ("成因", "Causes"),
        "pages_relate": ("关联", "Connections"),
        "pages_theme": ("主题", "Themes"),
        "pages_profile": ("公司与名称", "Companies and names"),
        "index_count": ("共 {n} 页", "{n} pages"),
        "index_find": ("按名称或代码筛选页面", "Filter pages by name or code"),
        "members_count": ("{n} 个成员", "{n} members"),
        "door": ("来源：{door}", "Source: {door}"),
        "status_answered": ("已回答", "answered"),
        "status_partial": ("没有直接答案，以下是相关原文", "no direct answer; related passages"),
        "status_not_found": ("未找到", "not found"),
        "explorer_title": ("链图 · 浏览", "Liantu · explorer"),
        "status_ambiguous": ("名称不明确，请选择", "the name is ambiguous; choose one"),
    }
)


def word(key: str, lang: Lang = "zh", **parts: object) -> str:
    """Return the text of `key`, or `key` itself if the table has none (such as the name of a layer)."""
    pair = _WORDS.get(key)
    if pair is None:
        return key
    text = pair[LANGUAGES.index(lang)]
    return text.format(**parts) if parts else text


def words(keys: tuple[str, ...], lang: Lang) -> dict[str, str]:
    """Return the texts for a page's script, with their placeholders."""
    return {key: word(key, lang) for key in keys}
