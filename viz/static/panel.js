"use strict";
// Write text nodes only: names, titles and quotes are untrusted.
function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function fill(template, parts) {
  return template.replace(/\{(\w+)\}/g, (whole, key) => (key in parts ? String(parts[key]) : whole));
}

function evidenceBlock(item, words) {
  const block = element("div", "evidence");
  if (item.claim) block.append(element("p", "claim", item.claim));
  const quote = element("blockquote");
  quote.append(element("mark", "", item.quote));
  const from = [];
  if (item.publisher) from.push(item.publisher);
  if (item.speaker) from.push(fill(words.speaker, { name: item.speaker }));
  if (item.page) from.push(fill(words.page, { n: item.page }));
  from.push(item.published_on);
  const source = element("p", "from");
  source.append(sourceName(item, words), ` · ${from.join(" · ")}`);
  block.append(quote, source);
  return block;
}

function sourceName(item, words) {
  const name = item.title || words.untitled;
  if (!item.url) return name;
  const link = element("a", "", name);
  link.href = item.url; // only http and https addresses are in the data
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.title = words.open_source;
  return link;
}

// ---- other pages of the folder, from its pages.js; a page alone has none
function otherPages(data) {
  return (window.liantuPages || []).filter((page) => page.file !== data.file);
}

function pagesAbout(entity, data) {
  return otherPages(data).filter((page) => page.about.includes(entity));
}

function pageList(pages) {
  const list = element("ul", "pages");
  for (const page of pages) {
    const item = element("li"), link = element("a", "", page.name);
    link.href = encodeURIComponent(page.file);
    item.append(link);
    list.append(item);
  }
  return list;
}

function relatedPages(data) {
  const own = new Set(data.members.map((member) => member.entity));
  const common = (page) =>
    3 * page.about.filter((entity) => own.has(entity)).length +
    page.shows.filter((entity) => own.has(entity)).length / (1 + Math.sqrt(page.shows.length)) +
    (page.shows.some((entity) => data.about.includes(entity)) ? 2 : 0);
  const ranked = otherPages(data).map((page, at) => [common(page), at, page]).filter(([score]) => score >= 1);
  const pages = ranked.sort((a, b) => b[0] - a[0] || a[1] - b[1]).map(([, , page]) => page);
  const isProfile = (page) => page.kind === "profile";
  return [...pages.filter((page) => !isProfile(page)).slice(0, 6), ...pages.filter(isProfile).slice(0, 6)];
}

function linkHead(link, data, tag) {
  const head = element(tag);
  const sign = { 1: "＋", "-1": "－" }[link.sign] || "";
  const wording = element("span", { 1: "plus", "-1": "minus" }[link.sign] || "soft", ` —${link.label}${sign}→ `);
  head.append(data.members[link.source].label, wording, data.members[link.target].label);
  const tags = [[link.modality, ""], [link.negated && "negated", ""], [link.contested && "contested", "contested"]];
  for (const [key, className] of tags) {
    if (key) head.append(element("span", `tag ${className}`, data.words[key]));
  }
  return head;
}

function linkBlock(link, data) {
  const block = element("section");
  block.append(linkHead(link, data, "h3"), ...link.evidence.map((item) => evidenceBlock(item, data.words)));
  if (!link.evidence.length) block.append(element("p", "soft", data.words.no_evidence));
  return block;
}

function memberBlock(index, data) {
  const member = data.members[index];
  const same = (at) => data.members[at].entity === member.entity;
  const block = element("div");
  const turn = { 1: " ▲", "-1": " ▼" }[member.direction] || "";
  block.append(element("h2", "", member.label + turn), element("p", "codes", member.tip));
  const pages = pagesAbout(member.entity, data);
  if (pages.length) block.append(element("p", "soft", data.words.pages_about), pageList(pages));
  const figures = ownFigures(member.entity);
  if (figures) block.append(figures);
  const own = data.links.filter((link) => same(link.source) || same(link.target));
  if (!own.length) block.append(element("p", "soft", data.words.node_alone));
  block.append(...own.sort((one, other) => other.width - one.width).map((link) => linkBlock(link, data)));
  return block;
}

function ownFigures(entity) {
  const table = document.getElementById("figures");
  const groups = table ? [...table.querySelectorAll("tbody")] : [];
  if (!groups.some((group) => group.dataset.owner === entity)) return null;
  const copy = table.cloneNode(true);
  copy.removeAttribute("id");
  for (const group of copy.querySelectorAll("tbody")) if (group.dataset.owner !== entity) group.remove();
  return copy;
}

function foldBlock(face, data, onMember) {
  const block = element("div");
  block.append(element("h2", "", fill(data.words.folded, { n: face.hides.length })));
  for (const index of face.hides) {
    const { label, codes } = data.members[index];
    const row = element("button", "row", [label, ...codes].join(" "));
    row.type = "button";
    row.addEventListener("click", () => onMember(index));
    block.append(row);
  }
  return block;
}

function linkTip(link, data) {
  const [first] = link.evidence;
  const head = linkHead(link, data, "p");
  for (const tag of head.querySelectorAll(".tag")) tag.textContent = `（${tag.textContent}）`;
  return first ? `${head.textContent}\n「${first.quote}」` : head.textContent;
}

function makePanel(data, onPick) {
  let origin = null; // the row that was opened, focused again on the way back
  const detail = document.getElementById("detail"), overview = document.getElementById("overview");
  const panel = document.getElementById("panel");

  function show(block) {
    const back = element("button", "back", `← ${data.words.back}`);
    back.type = "button";
    back.addEventListener("click", () => onPick(null));
    detail.replaceChildren(back, block);
    detail.hidden = false;
    overview.hidden = true;
    panel.scrollTop = 0;
  }

  function rows() {
    const order = data.links.map((link, at) => at).sort((a, b) => data.links[b].width - data.links[a].width || a - b);
    const made = order.map((at) => {
      const row = linkHead(data.links[at], data, "button");
      row.type = "button";
      row.className = "row";
      row.addEventListener("click", () => {
        onPick(at);
        origin = row;
        detail.querySelector(".back").focus({ preventScroll: true });
      });
      return row;
    });
    const links = document.getElementById("links");
    if (links) links.replaceChildren(...made);
    const related = relatedPages(data);
    if (related.length) document.getElementById("related").append(element("h2", "", data.words.pages_related), pageList(related));
  }

  rows();
  return {
    showLink: (at) => show(linkBlock(data.links[at], data)),
    showMember: (at) => show(memberBlock(at, data)),
    showFold: (face, onMember) => show(foldBlock(face, data, onMember)),
    showOverview() {
      const inside = detail.contains(document.activeElement);
      detail.hidden = true;
      overview.hidden = false;
      if (origin && inside) origin.focus();
      origin = null;
    },
  };
}
