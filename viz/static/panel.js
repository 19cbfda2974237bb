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
  const from = [item.title || words.untitled];
  if (item.publisher) from.push(item.publisher);
  if (item.speaker) from.push(fill(words.speaker, { name: item.speaker }));
  if (item.page) from.push(fill(words.page, { n: item.page }));
  from.push(item.published_on);
  block.append(quote, element("p", "from", from.join(" · ")));
  return block;
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
  const own = data.links.filter((link) => same(link.source) || same(link.target));
  if (!own.length) block.append(element("p", "soft", data.words.node_alone));
  block.append(...own.sort((one, other) => other.width - one.width).map((link) => linkBlock(link, data)));
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
    document.getElementById("links").replaceChildren(...made);
  }

  rows();
  return {
    showLink: (at) => show(linkBlock(data.links[at], data)),
    showMember: (at) => show(memberBlock(at, data)),
    showOverview() {
      const inside = detail.contains(document.activeElement);
      detail.hidden = true;
      overview.hidden = false;
      if (origin && inside) origin.focus();
      origin = null;
    },
  };
}
