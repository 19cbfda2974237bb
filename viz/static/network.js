"use strict";
function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const faces = new Map(data.nodes.filter((node) => node.face).map((node) => [node.id, node.face]));
  const tips = data.links.map((link) => linkTip(link, data));
  const nodes = new vis.DataSet(data.nodes);
  const edges = new vis.DataSet(data.edges.map((edge) => ({ ...edge, title: tips[edge.link] })));
  const linkOf = new Map(data.edges.map((edge) => [edge.id, edge.link]));
  const off = new Set();
  let near = null, lit = null;
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
        drawFace(ctx, face, look, data.colors, x, y, state);
        ctx.globalAlpha = 1;
      },
      nodeDimensions: { width: face.width, height: face.height },
    };
  };
  const holder = document.getElementById("canvas");
  const network = new vis.Network(holder, { nodes, edges }, data.options);

  // ---- background: cards of stages with their companies, column headings
  network.on("beforeDrawing", (ctx) => {
    for (const card of data.cards) {
      const face = faces.get(`n${card.stage}`);
      if (off.has(face.kind)) continue;
      ctx.globalAlpha = near && !near.has(`n${card.stage}`) ? 0.4 : 1;
      ctx.beginPath();
      ctx.roundRect(card.x - card.width / 2, card.y - card.height / 2, card.width, card.height, 14);
      ctx.fillStyle = "#f1f4f8";
      ctx.fill();
      ctx.lineWidth = 1;
      ctx.strokeStyle = "#d5dce5";
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
    for (const head of data.heads) drawHead(ctx, head);
  });

  // ---- link labels above the lines, hidden when too small to read
  network.on("afterDrawing", (ctx) => {
    if (network.getScale() * data.labelPixels < 7.5) return;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.font = `${data.labelPixels}px ${FONT}`;
    for (const label of data.labels) {
      const link = data.links[label.link];
      if (off.has(data.members[link.source].kind) || off.has(data.members[link.target].kind)) continue;
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
  function bounds() {
    const boxes = [
      ...data.nodes.filter((node) => node.face).map((node) => [node.x, node.y, node.face.width, node.face.height]),
      ...data.cards.map((card) => [card.x, card.y, card.width, card.height]),
      ...data.heads.map((head) => [head.x, head.y, head.width, 30]),
    ];
    return {
      left: Math.min(...boxes.map(([x, , w]) => x - w / 2)),
      right: Math.max(...boxes.map(([x, , w]) => x + w / 2)),
      top: Math.min(...boxes.map(([, y, , h]) => y - h / 2)),
      bottom: Math.max(...boxes.map(([, y, , h]) => y + h / 2)),
    };
  }

  function fit(animation) {
    const { left, right, top, bottom } = bounds();
    const notice = document.querySelector(".notice") ? 36 : 0; // the graph starts below it
    const roomX = Math.max(holder.clientWidth - 48, 50), roomY = Math.max(holder.clientHeight - 48 - notice, 50);
    const scale = Math.min(roomX / (right - left), roomY / (bottom - top), 1.35);
    network.moveTo({ position: { x: (left + right) / 2, y: (top + bottom) / 2 - notice / 2 / scale }, scale, animation: animation && !calm });
  }

  // ---- selection: show details in the panel, dim everything unrelated
  function dim(keep, links) {
    near = keep;
    lit = links;
    edges.update(
      data.edges.map((edge) => {
        const shown = !links || links.has(edge.link);
        const update = { id: edge.id, color: { ...edge.color, opacity: shown ? (links ? 1 : edge.color.opacity ?? 1) : 0.12 } };
        return edge.background ? { ...update, background: { ...edge.background, enabled: shown } } : update;
      }),
    );
  }

  function copies(index) {
    const entity = data.members[index].entity;
    return data.members.flatMap((member, at) => (member.entity === entity ? [at] : []));
  }

  function pickMember(index) {
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
    const own = data.edges.filter((edge) => edge.link === at).map((edge) => edge.id);
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
  network.on("click", ({ nodes: hit, edges: crossed }) => {
    if (hit.length && faces.has(hit[0])) pickMember(Number(hit[0].slice(1)));
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
    const { x, y } = nodes.get(`n${hits[turn]}`);
    network.moveTo({ position: { x, y }, scale: Math.max(network.getScale(), 0.9), animation: !calm });
    pickMember(hits[turn]);
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
    const gone = (at) => off.has(data.members[at].kind);
    nodes.update([...faces].map(([id, face]) => ({ id, hidden: off.has(face.kind) })));
    edges.update(
      data.edges.map((edge) => {
        const link = data.links[edge.link];
        return { id: edge.id, hidden: gone(link.source) || gone(link.target) };
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
  document.getElementById("whole").addEventListener("click", () => fit(true));
  network.once("afterDrawing", () => {
    document.getElementById("state").remove();
    network.redraw(); // node sizes are known only after the first frame
  });
  // on resize, fit the whole graph until the user has moved it
  let moved = false;
  for (const own of ["zoom", "dragEnd"]) network.on(own, () => (moved = true));
  network.on("resize", () => moved || requestAnimationFrame(() => fit(false))); // after vis-network has set its own view
  fit(false);
  window.liantu = Object.freeze({ network, data });
}

try {
  start();
} catch (fault) {
  const state = document.getElementById("state");
  if (state) state.textContent = `${JSON.parse(document.getElementById("data").textContent).words.failed}${fault.message}`;
  throw fault;
}
