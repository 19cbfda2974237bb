"use strict";
// One outline per shape name in viz/palette.py, shared by nodes and legend samples.
const OUTLINES = {
  plate: (c, l, t, w, h) => c.roundRect(l, t, w, h, 5),
  pill: (c, l, t, w, h) => c.roundRect(l, t, w, h, Math.min(h / 2, 18)),
  tab: (c, l, t, w, h) => c.roundRect(l, t, w, h, [12, 12, 2, 2]),
  oval: (c, l, t, w, h) => c.ellipse(l + w / 2, t + h / 2, w / 2, h / 2, 0, 0, 2 * Math.PI),
  hexagon: (c, l, t, w, h) => {
    const i = Math.min(12, w / 5);
    outline(c, l, t, [[i, 0], [w - i, 0], [w, h / 2], [w - i, h], [i, h], [0, h / 2]]);
  },
  octagon: (c, l, t, w, h) => {
    const i = Math.min(9, h / 3);
    outline(c, l, t, [[i, 0], [w - i, 0], [w, i], [w, h - i], [w - i, h], [i, h], [0, h - i], [0, i]]);
  },
  slant: (c, l, t, w, h) => {
    const i = Math.min(11, w / 4);
    outline(c, l, t, [[i, 0], [w, 0], [w - i, h], [0, h]]);
  },
  flag: (c, l, t, w, h) => {
    const i = Math.min(13, w / 4);
    outline(c, l, t, [[0, 0], [w - i, 0], [w, h / 2], [w - i, h], [0, h]]);
  },
  leaf: (c, l, t, w, h) => {
    const i = Math.min(12, h / 2.5);
    outline(c, l, t, [[0, 0], [w - i, 0], [w, i], [w, h], [0, h]]);
  },
  trapeze: (c, l, t, w, h) => {
    const i = Math.min(11, w / 5);
    outline(c, l, t, [[i, 0], [w - i, 0], [w, h], [0, h]]);
  },
  ticket: (c, l, t, w, h) => {
    const n = Math.min(7, h / 3.5);
    c.moveTo(l + n, t);
    c.lineTo(l + w - n, t);
    c.arc(l + w, t, n, Math.PI, Math.PI / 2, true);
    c.lineTo(l + w, t + h - n);
    c.arc(l + w, t + h, n, -Math.PI / 2, Math.PI, true);
    c.lineTo(l + n, t + h);
    c.arc(l, t + h, n, 0, -Math.PI / 2, true);
    c.lineTo(l, t + n);
    c.arc(l, t, n, Math.PI / 2, 0, true);
    c.closePath();
  },
};

const FONT = '"Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif';

function outline(c, left, top, points) {
  points.forEach(([x, y], at) => (at ? c.lineTo(left + x, top + y) : c.moveTo(left + x, top + y)));
  c.closePath();
}

function trace(c, look, left, top, width, height) {
  c.beginPath();
  OUTLINES[look.shape](c, left, top, width, height);
}

function drawSample(canvas, look) {
  const c = canvas.getContext("2d");
  c.scale(2, 2);
  trace(c, look, 1.5, 1.5, 27, 15);
  c.fillStyle = look.fill;
  c.strokeStyle = look.line;
  c.lineWidth = 1.6;
  c.fill();
  c.stroke();
}

function drawBlank(c, face, look, x, y) {
  trace(c, look, x - face.width / 2, y - face.height / 2, face.width, face.height);
  c.fillStyle = "#fbfcfd";
  c.fill();
}

function drawFold(c, face, text, x, y, state) {
  c.beginPath();
  c.roundRect(x - face.width / 2, y - face.height / 2, face.width, face.height, 6);
  c.fillStyle = state.selected || state.hover ? "#dbe8f6" : "#eaf1f9";
  c.fill();
  c.textBaseline = "middle";
  c.textAlign = "center";
  c.font = `${face.size}px ${FONT}`;
  c.fillStyle = "#0b5cad";
  c.fillText(text, x, y + 0.5, face.width - 6);
}

function drawFace(c, face, look, colors, x, y, state) {
  const { width, height } = face;
  const left = x - width / 2, top = y - height / 2;
  if (face.contested) {
    trace(c, look, left - 3, top - 3, width + 6, height + 6);
    c.fillStyle = colors.contested;
    c.fill();
  }
  trace(c, look, left, top, width, height);
  c.fillStyle = face.focus ? look.line : look.fill;
  c.fill();
  c.setLineDash(face.dash);
  c.lineWidth = state.selected ? 4 : state.hover ? 2.6 : face.stage ? 1 : 1.6;
  c.strokeStyle = face.stage && !state.selected ? "#9aa7b6" : look.line;
  c.stroke();
  c.setLineDash([]);
  const ink = face.focus ? "#ffffff" : face.faint ? "#8a94a1" : "#16202c";
  (face.row ? writeRow : writeLines)(c, face, colors, x, y, ink);
  if (face.faint) strike(c, x, y, width);
}

function writeRow(c, face, colors, x, y, ink) {
  const room = face.width - 16, arrow = face.direction ? face.size + 2 : 0;
  c.textBaseline = "middle";
  c.textAlign = "left";
  c.font = `${face.size}px ${FONT}`;
  c.fillStyle = ink;
  c.fillText(face.lines[0], x - room / 2, y + 0.5, room - arrow);
  c.textAlign = "right";
  c.font = `12px ${FONT}`;
  c.fillStyle = "#5f6c7b";
  c.fillText(face.code, x + room / 2 - arrow, y + 1);
  if (!arrow) return;
  c.font = `${face.size - 1}px ${FONT}`;
  c.fillStyle = face.direction > 0 ? colors.plus : colors.minus;
  c.fillText(face.direction > 0 ? "▲" : "▼", x + room / 2 + 2, y + 1);
}

function writeLines(c, face, colors, x, y, ink) {
  const step = face.size + 5, codeStep = face.code ? 16 : 0;
  const arrow = face.direction ? face.size + 2 : 0;
  let line = y - (face.lines.length * step + codeStep) / 2 + step / 2;
  c.textBaseline = "middle";
  c.textAlign = "center";
  c.font = `${face.focus ? 600 : 500} ${face.size}px ${FONT}`;
  c.fillStyle = ink;
  for (const text of face.lines) {
    c.fillText(text, x - arrow / 2, line, face.width - 16 - arrow);
    line += step;
  }
  if (face.code) {
    c.font = `12px ${FONT}`;
    c.fillStyle = face.focus ? "#e6edf5" : "#5f6c7b";
    c.fillText(face.code, x - arrow / 2, line - 1, face.width - 16 - arrow);
  }
  if (arrow) {
    c.font = `${face.size}px ${FONT}`;
    c.fillStyle = face.focus ? "#ffffff" : face.direction > 0 ? colors.plus : colors.minus;
    c.fillText(face.direction > 0 ? "▲" : "▼", x + face.width / 2 - 8 - arrow / 2, y);
  }
}

function strike(c, x, y, width) {
  c.beginPath();
  c.moveTo(x - width / 2 + 8, y);
  c.lineTo(x + width / 2 - 8, y);
  c.lineWidth = 1.2;
  c.strokeStyle = "#8a94a1";
  c.stroke();
}
