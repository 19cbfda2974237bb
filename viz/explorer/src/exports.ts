/** Files of what is shown: CSV, XLSX, GraphML of the data; SVG, PNG, PDF of the picture. Nothing leaves the browser. */

import writeExcelFile from "write-excel-file/universal";
import type { Link } from "./links";
import { palette } from "./palette";
import { broken, widthOf } from "./picture";

export type Cell = string | number;

function save(name: string, data: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name.replace(/[\\/:*?"<>|\s]+/g, "_");
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Spreadsheets run what begins like a formula; a quote before it makes it text. */
export function harmless(cell: Cell): string {
  const text = String(cell);
  return typeof cell === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

export function csvOf(rows: Cell[][]): string {
  const quoted = (cell: Cell) => `"${harmless(cell).replaceAll('"', '""')}"`;
  return `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\r\n")}\r\n`;
}

export function saveCsv(name: string, rows: Cell[][]): void {
  save(`${name}.csv`, new Blob([csvOf(rows)], { type: "text/csv;charset=utf-8" }));
}

export async function saveXlsx(name: string, rows: Cell[][]): Promise<void> {
  const [head = [], ...body] = rows;
  const bold = head.map((text) => ({ value: String(text), type: String, fontWeight: "bold" as const }));
  const data = body.map((row) => row.map((cell) => (typeof cell === "number" ? { value: cell, type: Number } : { value: cell || undefined, type: String })));
  save(`${name}.xlsx`, await writeExcelFile([bold, ...data] as never).toBlob());
}

const XML: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

function xml(text: string): string {
  // XML 1.0 has no way to write control characters
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"']/g, (letter) => XML[letter]!);
}

export function graphmlOf(links: Link[], iso: (day: number) => string): string {
  const nodes = new Map(links.flatMap((link) => [[link.subject.id, link.subject], [link.object.id, link.object]] as const));
  const keys = [
    ["name", "node", "string"], ["kind", "node", "string"], ["code", "node", "string"], ["relation", "edge", "string"],
    ["sign", "edge", "int"], ["modality", "edge", "string"], ["confidence", "edge", "double"], ["sources", "edge", "int"],
    ["first", "edge", "string"], ["last", "edge", "string"],
  ];
  const data = (name: string, value: string | number) => `<data key="${name}">${xml(String(value))}</data>`;
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'];
  for (const [name, target, type] of keys) lines.push(`<key id="${name}" for="${target}" attr.name="${name}" attr.type="${type}"/>`);
  lines.push('<graph edgedefault="directed">');
  for (const node of nodes.values()) {
    lines.push(`<node id="${xml(node.id)}">${data("name", node.name)}${data("kind", node.kind)}${data("code", node.code)}</node>`);
  }
  for (const link of links) {
    const facts = data("relation", link.relation.name) + data("sign", link.sign) + data("modality", link.modality);
    const weights = data("confidence", link.certainty.toFixed(3)) + data("sources", link.sources);
    const days = data("first", iso(link.first)) + data("last", iso(link.last));
    lines.push(`<edge source="${xml(link.subject.id)}" target="${xml(link.object.id)}">${facts}${weights}${days}</edge>`);
  }
  lines.push("</graph>", "</graphml>", "");
  return lines.join("\n");
}

export function saveGraphml(name: string, links: Link[], iso: (day: number) => string): void {
  save(`${name}.graphml`, new Blob([graphmlOf(links, iso)], { type: "application/xml" }));
}

/** What a saved picture says of itself: what and when above it, what lines mean and the sources below it. */
export interface Caption {
  head: string[];
  kinds: [text: string, fill: string, line: string][];
  legend: [text: string, color: string, dash: string][];
  sources: string[];
}

const EDGE = 20;
const STEP = 17;

/** Return a copy of a picture with its caption, in the picture's own units. */
function captioned(svg: SVGSVGElement, { head, kinds, legend, sources }: Caption): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const { width, height } = svg.viewBox.baseVal;
  const scale = svg.width.baseVal.value / width;
  const { ink, faint, paper } = palette();
  const add = (name: string, given: Record<string, string | number>, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, String(value));
    made.textContent = text;
    copy.append(made);
    return made;
  };
  const lines = sources.flatMap((source) => broken(source, width - 2 * EDGE, 11));
  const rows: [string, string, string, boolean][][] = [[]];
  let used = 0;
  for (const each of [...kinds.map((kind) => [...kind, true] as const), ...legend.map((line) => [...line, false] as const)]) {
    const wide = widthOf(each[0], 11) + 52;
    if (used && used + wide > width - 2 * EDGE) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1)!.push([...each]);
    used += wide;
  }
  const top = 14 + head.length * 22;
  const bottom = EDGE + (rows.length + lines.length) * STEP + EDGE;
  for (const [y, tall] of [[-top, top], [height, bottom]] as const) add("rect", { x: 0, y, width, height: tall, fill: paper });
  head.forEach((text, row) => add("text", { x: EDGE, y: -top + 26 + row * 20, "font-size": row ? 12 : 18, "font-weight": row ? 400 : 700, fill: row ? faint : ink }, text));
  let y = height + EDGE;
  for (const row of rows) {
    let x = EDGE;
    for (const [text, color, dash, box] of row) {
      if (box) add("rect", { x, y: y - 10, width: 26, height: 11, rx: 3, fill: color, stroke: dash });
      else add("line", { x1: x, x2: x + 26, y1: y - 4, y2: y - 4, stroke: color, "stroke-width": 2.5, "stroke-dasharray": dash || "none" });
      add("text", { x: x + 32, y, "font-size": 11, fill: faint }, text);
      x += widthOf(text, 11) + 52;
    }
    y += STEP;
  }
  lines.forEach((text, row) => add("text", { x: EDGE, y: y + row * STEP, "font-size": 11, fill: faint }, text));
  copy.setAttribute("viewBox", `0 ${-top} ${width} ${top + height + bottom}`);
  copy.setAttribute("width", String(width * scale));
  copy.setAttribute("height", String((top + height + bottom) * scale));
  return copy;
}

function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  for (const each of copy.querySelectorAll(".hit")) each.remove();
  for (const each of copy.querySelectorAll("[tabindex], [role]")) {
    for (const name of ["tabindex", "role", "aria-pressed"]) each.removeAttribute(name);
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}`;
}

export function saveSvg(name: string, svg: SVGSVGElement, caption: Caption): void {
  save(`${name}.svg`, new Blob([svgText(captioned(svg, caption))], { type: "image/svg+xml" }));
}

const LARGEST = 8000;

async function raster(drawn: SVGSVGElement, caption: Caption): Promise<HTMLCanvasElement> {
  const svg = captioned(drawn, caption);
  const width = svg.width.baseVal.value;
  const height = svg.height.baseVal.value;
  const scale = Math.min(2, LARGEST / Math.max(width, height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d")!;
  context.fillStyle = palette().paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function blobOf(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(type))), type, 0.92));
}

export async function savePng(name: string, picture: SVGSVGElement | HTMLCanvasElement, caption: Caption): Promise<void> {
  const canvas = picture instanceof HTMLCanvasElement ? picture : await raster(picture, caption);
  save(`${name}.png`, await blobOf(canvas, "image/png"));
}

/** One page of the picture's size, holding it as an image at twice the screen's resolution (ISO 32000-1, 8.9.5). */
export async function savePdf(name: string, picture: SVGSVGElement | HTMLCanvasElement, caption: Caption): Promise<void> {
  const canvas = picture instanceof HTMLCanvasElement ? picture : await raster(picture, caption);
  const jpeg = new Uint8Array(await (await blobOf(canvas, "image/jpeg")).arrayBuffer());
  save(`${name}.pdf`, new Blob([pdfOf(jpeg, canvas.width, canvas.height)], { type: "application/pdf" }));
}

export function pdfOf(jpeg: Uint8Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const box = [width, height].map((side) => ((side * 72) / 192).toFixed(2));
  const paint = `q ${box[0]} 0 0 ${box[1]} 0 0 cm /I Do Q`;
  const encode = (text: string) => new TextEncoder().encode(text);
  const objects: (string | Uint8Array)[][] = [
    ["<</Type/Catalog/Pages 2 0 R>>"],
    ["<</Type/Pages/Kids[3 0 R]/Count 1>>"],
    [`<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${box[0]} ${box[1]}]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>`],
    [`<</Length ${paint.length}>>stream\n${paint}\nendstream`],
    [`<</Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode/Length ${jpeg.length}>>stream\n`, jpeg, "\nendstream"],
  ];
  const pieces: Uint8Array[] = [encode("%PDF-1.4\n")];
  const size = () => pieces.reduce((sum, piece) => sum + piece.length, 0);
  const places: number[] = [];
  objects.forEach((object, row) => {
    places.push(size());
    for (const piece of [`${row + 1} 0 obj\n`, ...object, "\nendobj\n"]) pieces.push(typeof piece === "string" ? encode(piece) : piece);
  });
  const begin = size();
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  pieces.push(encode(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${begin}\n%%EOF\n`));
  const whole = new Uint8Array(size());
  let place = 0;
  for (const piece of pieces) {
    whole.set(piece, place);
    place += piece.length;
  }
  return whole;
}
