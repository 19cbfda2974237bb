"use strict";
function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tips = data.links.map((link) => linkTip(link, data));
  const nodes = new vis.DataSet(), edges = new vis.DataSet();
  const off = new Set();
  let shown = data.pictures[0], faces = new Map(), linkOf = new Map();
  let near = null, lit = null, moved = false;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  data.options.nodes.ctxRenderer = ({ ctx, id, x, y, state }) => {
    const face = faces.get(id);
    return {
      drawNode() {
        const look = data.looks[face.kind];
        if (near && !near.has(id)) {
          drawBlank(ctx, face, look, x, y); // hide lines behind a dimmed node
          ctx.globalAlpha = 0.22;
        }
        if (face.hides.length) drawFold(ctx, face, foldText(face), x, y, state);
        else drawFace(ctx, face, look, data.colors, x, y, state);
        ctx.globalAlpha = 1;
      },
      nodeDimensions: { width: face.width, height: face.height },
    };
  };
  const holder = document.getElementById("canvas");
  const network = new vis.Network(holder, { nodes, edges }, data.options);

  // ---- filter: a company goes with its stage, a fold with all that it stands for
  const kindOff = (index) => off.has(data.members[index].kind) || off.has(stageKind(index));
  function stageKind(index) {
    const { stage } = data.members[index];
    return stage === null ? null : data.members[stage].kind;
  }
  function isHidden(id) {
    const face = faces.get(id);
    if (!face) return false;
    return face.hides.length ? face.hides.every(kindOff) : kindOff(Number(id.slice(1)));
  }
  const foldText = (face) => fill(data.words.folded, { n: face.hides.filter((index) => !kindOff(index)).length });
  const visible = () => shown.nodes.filter((node) => node.face && !isHidden(node.id));

  // ---- background: cards of stages with their companies, column headings
  network.on("beforeDrawing", (ctx) => {
    const inView = visible();
    const filled = new Set(inView.map((node) => node.face.stage));
    for (const card of shown.cards) {
      if (!filled.has(card.stage)) continue;
      ctx.globalAlpha = near && !near.has(card.stage) ? 0.4 : 1;
      ctx.beginPath();
      ctx.roundRect(card.x - card.width / 2, card.y - card.height / 2, card.width, card.height, 10);
      ctx.fillStyle = "#f1f4f8";
      ctx.fill();
      ctx.lineWidth = 1;
      ctx.strokeStyle = "#d5dce5";
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
    for (const head of shown.heads) {
      if (inView.some((node) => Math.abs(node.x - head.x) <= head.width / 2)) drawHead(ctx, head);
    }
  });

  // ---- link labels above the lines, hidden when too small to read
  network.on("afterDrawing", (ctx) => {
    if (network.getScale() < data.minScale - 0.01) return;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.font = `${data.labelPixels}px ${FONT}`;
    for (const label of shown.labels) {
      const link = data.links[label.link];
      if (kindOff(link.source) || kindOff(link.target)) continue;
      ctx.globalAlpha = lit && !lit.has(label.link) ? 0.12 : 1;
      const width = ctx.measureText(label.text).width + 6; // blank the background so that the line does not cross the text
      ctx.fillStyle = "#fbfcfd";
      ctx.fillRect(label.x - width / 2, label.y - 8, width, 15);
      ctx.fillStyle = label.color;
      ctx.fillText(label.text, label.x, label.y);
    }
    ctx.globalAlpha = 1;
  });

  function drawHead(ctx, head) {
    ctx.font = `600 17px ${FONT}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillStyle = "#3c4a5b";
    ctx.fillText(head.text, head.x, head.y - 6);
    ctx.fillStyle = "#c3ccd7";
    ctx.fillRect(head.x - head.width / 2, head.y + 10, head.width, 2);
  }

  // ---- fit everything including headings and cards (vis-network's own fit covers nodes only)
  function bounds(picture) {
    const boxes = [
      ...picture.nodes.filter((node) => node.face).map((node) => [node.x, node.y, node.face.width, node.face.height]),
      ...picture.cards.map((card) => [card.x, card.y, card.width, card.height]),
      ...picture.heads.map((head) => [head.x, head.y, head.width, 30]),
    ];
    return {
      left: Math.min(...boxes.map(([x, , w]) => x - w / 2)),
      right: Math.max(...boxes.map(([x, , w]) => x + w / 2)),
      top: Math.min(...boxes.map(([, y, , h]) => y - h / 2)),
      bottom: Math.max(...boxes.map(([, y, , h]) => y + h / 2)),
    };
  }

  const room = () => ({ roomX: Math.max(holder.clientWidth - 16, 50), roomY: Math.max(holder.clientHeight - 16, 50) });
  function firstView() {
    const { roomX, roomY } = room();
    const fits = ({ left, right, top, bottom }) => roomX >= (right - left) * data.minScale && roomY >= (bottom - top) * data.minScale;
    return data.pictures.findLast((picture) => fits(bounds(picture))) || data.pictures[0];
  }

  function fit(animation, smallest = data.minScale) {
    const { left, right, top, bottom } = bounds(shown);
    const { roomX, roomY } = room();
    const scale = Math.max(Math.min(roomX / (right - left), roomY / (bottom - top), 1.35), smallest);
    // what does not fit at a legible size starts at the topic
    const topic = shown.nodes.find((node) => node.face && node.face.focus) || { x: left, y: top };
    const at = (from, to, space, wanted) => {
      const half = space / scale / 2;
      return to - from <= 2 * half + 1 ? (from + to) / 2 : Math.min(Math.max(wanted, from + half), to - half);
    };
    const position = { x: at(left, right, roomX, topic.x), y: at(top, bottom, roomY, topic.y) };
    network.moveTo({ position, scale, animation: animation && !calm });
  }

  // ---- first view and whole picture
  function show(picture) {
    edges.clear(); // before the shapes change: vis-network redraws at once
    nodes.clear();
    shown = picture;
    faces = new Map(shown.nodes.filter((node) => node.face).map((node) => [node.id, node.face]));
    linkOf = new Map(shown.edges.map((edge) => [edge.id, edge.link]));
    nodes.add(shown.nodes);
    edges.add(shown.edges.map((edge) => ({ ...edge, title: tips[edge.link] })));
    hideFiltered();
    moved = false;
    if (toggle) {
      toggle.hidden = firstView() === data.pictures.at(-1);
      toggle.setAttribute("aria-pressed", String(isWhole()));
      toggle.textContent = isWhole() ? data.words.fold : fill(data.words.unfold, { n: new Set(data.members.map((member) => member.entity)).size });
    }
    fit(false);
    network.redraw();
  }
  const isWhole = () => shown === data.pictures.at(-1);
  const toggle = document.getElementById("fold");
  if (toggle) toggle.addEventListener("click", () => (show(isWhole() ? firstView() : data.pictures.at(-1)), pickNothing()));

  function reveal(index) {
    if (!faces.has(`n${index}`)) show(data.pictures.at(-1));
  }
  function centre(index) {
    const { x, y } = nodes.get(`n${index}`);
    network.moveTo({ position: { x, y }, scale: Math.max(network.getScale(), data.minScale), animation: !calm });
  }

  // ---- selection: show details in the panel, dim everything unrelated
  function dim(keep, links) {
    near = keep;
    lit = links;
    edges.update(
      shown.edges.map((edge) => {
        const bright = !links || links.has(edge.link);
        const update = { id: edge.id, color: { ...edge.color, opacity: bright ? (links ? 1 : edge.color.opacity ?? 1) : 0.12 } };
        return edge.background ? { ...update, background: { ...edge.background, enabled: bright } } : update;
      }),
    );
  }

  function copies(index) {
    const entity = data.members[index].entity;
    return data.members.flatMap((member, at) => (member.entity === entity ? [at] : []));
  }

  function pickMember(index) {
    reveal(index);
    const own = new Set(copies(index));
    const links = new Set(), keep = new Set([...own].map((at) => `n${at}`));
    data.links.forEach((link, at) => {
      if (!own.has(link.source) && !own.has(link.target)) return;
      links.add(at);
      keep.add(`n${link.source}`).add(`n${link.target}`);
    });
    network.setSelection({ nodes: [`n${index}`], edges: [] });
    dim(keep, links);
    panel.showMember(index);
  }

  function pickLink(at) {
    const link = data.links[at];
    reveal(link.source);
    reveal(link.target);
    const own = shown.edges.filter((edge) => edge.link === at).map((edge) => edge.id);
    network.setSelection({ nodes: [], edges: own });
    dim(new Set([`n${link.source}`, `n${link.target}`]), new Set([at]));
    panel.showLink(at);
  }

  function pickNothing() {
    network.unselectAll();
    dim(null, null);
    panel.showOverview();
  }

  const panel = makePanel(data, (at) => (at === null ? pickNothing() : pickLink(at)));
  function unfold(id) {
    const face = faces.get(id);
    const [strongest] = face.hides;
    show(data.pictures.at(-1));
    const keep = new Set(face.hides.map((index) => `n${index}`));
    if (face.stage) keep.add(face.stage);
    dim(keep, new Set());
    centre(strongest);
    panel.showFold(face, pickMember);
  }
  network.on("doubleClick", ({ nodes: hit }) => {
    const [page] = hit.length && /^n/.test(hit[0]) ? pagesAbout(data.members[Number(hit[0].slice(1))].entity, data) : [];
    if (page) window.location.href = encodeURIComponent(page.file);
  });
  network.on("click", ({ nodes: hit, edges: crossed }) => {
    if (hit.length && faces.has(hit[0])) faces.get(hit[0]).hides.length ? unfold(hit[0]) : pickMember(Number(hit[0].slice(1)));
    else if (crossed.length) pickLink(linkOf.get(crossed[0]));
    else pickNothing();
  });
  network.on("hoverNode", () => (holder.style.cursor = "pointer"));
  network.on("hoverEdge", () => (holder.style.cursor = "pointer"));
  network.on("blurNode", () => (holder.style.cursor = ""));
  network.on("blurEdge", () => (holder.style.cursor = ""));

  // ---- search: by name, alias or code; Enter goes to the next
  const find = document.getElementById("find"), found = document.getElementById("found");
  let hits = [], turn = -1;
  function search() {
    const text = find.value.trim().toLowerCase();
    turn = -1;
    hits = data.members.flatMap((member, at) =>
      text && member.first === at && member.tip.toLowerCase().includes(text) ? [at] : [],
    );
    const exact = (at) => Number(data.members[at].label.toLowerCase() === text);
    hits.sort((one, other) => exact(other) - exact(one) || one - other);
    found.textContent = text ? (hits.length ? fill(data.words.search_found, { n: hits.length }) : data.words.search_none) : "";
  }
  function next() {
    if (!hits.length) return;
    turn = (turn + 1) % hits.length;
    pickMember(hits[turn]);
    centre(hits[turn]);
  }
  find.addEventListener("input", search);
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    next();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pickNothing();
    if (event.key === "/" && document.activeElement !== find) {
      event.preventDefault();
      find.focus();
    }
  });

  // ---- filter by kind
  function filter(button) {
    const kind = button.dataset.kind;
    off.has(kind) ? off.delete(kind) : off.add(kind);
    button.setAttribute("aria-pressed", String(!off.has(kind)));
    hideFiltered();
  }
  function hideFiltered() {
    nodes.update([...faces.keys()].map((id) => ({ id, hidden: isHidden(id) })));
    edges.update(
      shown.edges.map((edge) => {
        const link = data.links[edge.link];
        return { id: edge.id, hidden: kindOff(link.source) || kindOff(link.target) };
      }),
    );
  }
  for (const button of document.querySelectorAll(".chips [data-kind]")) {
    drawSample(button.querySelector("canvas"), data.looks[button.dataset.kind]);
    button.addEventListener("click", () => filter(button));
  }

  const zoom = (factor) => network.moveTo({ scale: network.getScale() * factor, animation: !calm && { duration: 150 } });
  document.getElementById("nearer").addEventListener("click", () => zoom(1.3));
  document.getElementById("farther").addEventListener("click", () => zoom(1 / 1.3));
  document.getElementById("whole").addEventListener("click", () => fit(true, 0));
  network.once("afterDrawing", () => {
    document.getElementById("state").remove();
    network.redraw(); // node sizes are known only after the first frame
  });
  // on resize, fit the whole graph until the user has moved it
  for (const own of ["zoom", "dragEnd"]) network.on(own, () => (moved = true));
  network.on("resize", () => moved || requestAnimationFrame(() => fit(false))); // after vis-network has set its own view
  show(firstView());
  window.liantu = Object.freeze({ network, data, shown: () => shown });
}

try {
  start();
} catch (fault) {
  const state = document.getElementById("state");
  if (state) state.textContent = `${JSON.parse(document.getElementById("data").textContent).words.failed}${fault.message}`;
  throw fault;
}
