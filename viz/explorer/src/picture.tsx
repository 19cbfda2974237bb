/** A plan drawn as SVG: columns of names at a fixed, legible size, and curves between them. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entity } from "./data";
import { nameAt } from "./data";
import { meta } from "./app";
import type { Link } from "./links";
import { UNIT } from "./links";
import { DASHES, kindColors, palette, signColor } from "./palette";
import type { Item, Plan, Section } from "./plans";
import { pick as wordOf, t } from "./words";

const WIDTH = 176;
const GAP = 92;
/** between the columns of a chain of five and more, so that five fit a window of 1280 pixels and six one of 1440 */
const NARROW = 62;
/** a small drawing grows with its window up to this */
const LARGEST = 1.7;
const PAD = 20;
const ROW = 24;
const NOTE = 14;
const SPACE = 5;
const HEAD = 22;
const FONT = 13;
const SMALL = 11;
const LINE = 16;
const INSET = 14;

interface Box {
  item: Item;
  face: Face;
  x: number;
  y: number;
  width: number;
  height: number;
  column: number;
  section: string;
}

interface Heading {
  lines: string[];
  x: number;
  y: number;
}

interface Fold {
  section: Section;
  x: number;
  y: number;
}

export interface Drawing {
  width: number;
  height: number;
  boxes: Box[];
  headings: Heading[];
  folds: Fold[];
  lanes: { x: number; width: number; caption: string }[];
  /** between columns */
  gap: number;
}

/** Return the width of a text in pixels, near enough to cut it: Chinese characters are square, others about half. */
export function widthOf(text: string, size: number): number {
  let width = 0;
  for (const letter of text) width += letter.charCodeAt(0) > 0x2e80 ? 1 : /[A-Z0-9@%]/.test(letter) ? 0.66 : 0.54;
  return width * size;
}

const MOST_LINES = 6;

/** Break a text into lines of a width, between words or before a ·; what takes more than six lines is cut. */
export function broken(text: string, width: number, size: number): string[] {
  const lines = [""];
  for (const word of text.match(/(?:· )?(?:[\x21-\u2e7f]+\s*|[^\x21-\u2e7f])/gu) ?? []) {
    const pieces = widthOf(word, size) > width ? Array.from(word) : [word];
    for (const piece of pieces) {
      if (lines.at(-1) && widthOf((lines.at(-1) + piece).trimEnd(), size) > width) lines.push("");
      lines[lines.length - 1] += piece;
    }
  }
  const kept = lines.slice(0, MOST_LINES);
  return lines.length > MOST_LINES ? [...kept.slice(0, -1), `${kept.at(-1)!.trimEnd().slice(0, -1)}…`] : kept;
}

/** What is written in a box: the name and the note, each in lines, the mark of a change, and where it moves. */
interface Face {
  name: string;
  lines: string[];
  note: string[];
  aside: string;
  badge: string;
  move: string;
}

interface Names {
  asOf: number;
  pinned: Set<string>;
  marks: Map<string, "is_new" | "is_ended">;
  namesakes: Map<string, string>;
}

function faceOf(item: Item, { asOf, pinned, marks, namesakes }: Names): Face {
  const { entity } = item;
  const name = nameAt(entity, asOf) + (namesakes.get(entity.id) ?? "");
  const mark = marks.get(entity.id);
  const badge = mark ? t(mark) : "";
  // the name of an event has its direction: an arrow next to 「增产」 would read as a cut
  const happens = entity.kind === "event" || entity.kind === "policy";
  const move = item.move > 0 ? (happens ? "" : " ↑") : item.move < 0 ? (happens ? t("not_happening") : " ↓") : "";
  const note = item.note === "●" ? "" : item.note;
  // a company has its code at the end of its first line, the topic below its name
  const aside = item.inset ? note : entity.kind === "company" && !item.strong && note !== entity.code ? entity.code : "";
  const beside = [badge && widthOf(badge, SMALL) + 14, pinned.has(entity.id) && 14, move && widthOf(move, FONT) + 4, aside && widthOf(aside, SMALL) + 10];
  const width = WIDTH - (item.inset ? INSET : 0) - 14;
  const room = beside.reduce<number>((left, each) => left - (each || 0), width);
  return { name, lines: broken(name, room, sizeOf(item)), note: note && !item.inset ? broken(note, width, SMALL) : [], aside, badge, move };
}

function sizeOf(item: Item): number {
  return item.strong || !item.inset ? FONT : 12;
}

/** Place every item; columns are centred, so that a short one is next to the middle of a long one. */
export function arrange(plan: Plan, names: Names): Drawing {
  const captioned = plan.columns.some((column) => column.caption);
  const top = PAD + (captioned ? 26 : 0);
  const heights = plan.columns.map(({ sections }) => sections.reduce((sum, section) => sum + sectionHeight(section, names), 0));
  const tallest = Math.max(60, ...heights);
  const gap = captioned && plan.columns.length > 4 ? NARROW : GAP;
  const drawing: Drawing = { width: 0, height: top + tallest + PAD, boxes: [], headings: [], folds: [], lanes: [], gap };
  plan.columns.forEach((column, place) => {
    const x = PAD + place * (WIDTH + gap);
    let y = top + (captioned ? 0 : (tallest - heights[place]!) / 2);
    if (captioned) drawing.lanes.push({ x: x - 12, width: WIDTH + 24, caption: column.caption });
    for (const section of column.sections) {
      if (section.title) {
        const lines = broken(section.title, WIDTH, 12);
        drawing.headings.push({ lines, x, y: y + 15 });
        y += HEAD + (lines.length - 1) * LINE;
      }
      for (const item of section.items) {
        const inset = item.inset ? INSET : 0;
        const face = faceOf(item, names);
        const height = faceHeight(face);
        drawing.boxes.push({ item, face, x: x + inset, y, width: WIDTH - inset, height, column: place, section: section.id });
        y += height + SPACE;
      }
      if (section.more || section.items.length > 7) {
        drawing.folds.push({ section, x, y });
        y += ROW;
      }
      y += 10;
    }
    drawing.width = x + WIDTH + PAD + bulge(plan, column, gap);
  });
  return drawing;
}

/** Return the room that links between the items of a last column take to its right. */
function bulge(plan: Plan, column: Plan["columns"][number], gap: number): number {
  if (column !== plan.columns.at(-1)) return 0;
  const ids = new Set(column.sections.flatMap(({ items }) => items.map(({ entity }) => entity.id)));
  return plan.links.some((link) => !plan.nested.has(link.key) && ids.has(link.subject.id) && ids.has(link.object.id)) ? gap - PAD : 0;
}

function faceHeight(face: Face): number {
  return ROW + (face.lines.length - 1) * LINE + face.note.length * NOTE;
}

function sectionHeight(section: Section, names: Names): number {
  const items = section.items.reduce((sum, item) => sum + faceHeight(faceOf(item, names)) + SPACE, 0);
  const head = section.title ? HEAD + (broken(section.title, WIDTH, 12).length - 1) * LINE : 0;
  return head + items + (section.more || section.items.length > 7 ? ROW : 0) + 10;
}

interface Props {
  plan: Plan;
  asOf: number;
  picked: string;
  pinned: Set<string>;
  folds: Set<string>;
  label: string;
  onPick: (what: string) => void;
  onAct: (action: "expand" | "hide" | "pin" | "open", id: string) => void;
  onFold: (section: string) => void;
}

export function Picture({ plan, asOf, picked, pinned, folds, label, onPick, onAct, onFold }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const names = { asOf, pinned, marks: marksOf(plan), namesakes: namesakesOf(plan.columns.flatMap(({ sections }) => sections.flatMap(({ items }) => items.map(({ entity }) => entity))), asOf) };
  const drawing = arrange(plan, names);
  const curves = curvesOf(plan, drawing);
  const colors = palette();
  const [room, setRoom] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => {
    const measure = () => frame.current && setRoom([frame.current.clientWidth, frame.current.clientHeight]);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const scale = Math.max(1, Math.min(LARGEST, (room[0] - 4) / drawing.width, (room[1] - 4) / drawing.height));
  const best = Math.max(...plan.links.map((link) => link.strength), 0.01);
  useLayoutEffect(() => {
    // begin at the topic, which a small window may not show
    const topic = drawing.boxes.find((box) => box.item.strong);
    if (!topic || !frame.current) return;
    frame.current.scrollLeft = scale * (topic.x + topic.width / 2) - frame.current.clientWidth / 2;
    frame.current.scrollTop = Math.max(0, scale * topic.y - frame.current.clientHeight / 2);
  }, [label, scale]);
  const focused = useRef("");
  useLayoutEffect(() => {
    // what had the focus may have been drawn anew or hidden: it goes to the same name, else to the topic
    if (!focused.current || document.activeElement !== document.body || !frame.current) return;
    const nodes = [...frame.current.querySelectorAll<SVGGElement>("g.node")];
    (nodes.find((node) => node.dataset.id === focused.current) ?? nodes.find((node) => node.dataset.topic) ?? nodes[0])?.focus();
  });
  // what is drawn anew under a resting pointer is not what the pointer was moved to
  useLayoutEffect(() => { const svg = frame.current?.querySelector("svg"); if (svg) light(svg, null, []); }, [plan.links.map(({ key }) => key).join()]);
  const drag = useRef<[number, number, number, number] | null>(null);
  const moved = (event: PointerEvent) => {
    if (!drag.current || !frame.current) return;
    const [x, y, left, top] = drag.current;
    frame.current.scrollLeft = left - (event.clientX - x);
    frame.current.scrollTop = top - (event.clientY - y);
  };
  return (
    <div
      class="frame"
      ref={frame}
      tabIndex={0}
      role="region"
      aria-label={label}
      onFocusIn={(event) => (focused.current = (event.target as SVGGElement).dataset.id ?? "")}
      onPointerDown={(event) => {
        focused.current = "";
        if (event.pointerType !== "mouse" || !frame.current) return;
        drag.current = [event.clientX, event.clientY, frame.current.scrollLeft, frame.current.scrollTop];
      }}
      onPointerMove={moved}
      onPointerUp={() => (drag.current = null)}
      onPointerLeave={() => (drag.current = null)}
    >
      <svg
        id="picture"
        xmlns="http://www.w3.org/2000/svg"
        width={drawing.width * scale}
        height={drawing.height * scale}
        viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        font-family="system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
        role="group"
        aria-label={label}
        onPointerMove={(event) => event.pointerType === "mouse" && light(event.currentTarget, event.target as Element, plan.links)}
        onPointerLeave={(event) => light(event.currentTarget, null, [])}
      >
        <defs>
          {["plus", "minus", "neutral", "ended"].map((name) => (
            <marker key={name} id={`arrow-${name}`} viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto-start-reverse">
              <path d="M0 0 8 4 0 8z" fill={(colors as unknown as Record<string, string>)[name]} />
            </marker>
          ))}
        </defs>
        <rect width={drawing.width} height={drawing.height} fill={colors.paper} />
        {drawing.lanes.map((lane) => (
          <g key={lane.x}>
            <rect x={lane.x} y={PAD - 8} width={lane.width} height={drawing.height - 2 * PAD + 16} rx="8" fill={colors.lane} />
            <text x={lane.x + lane.width / 2} y={PAD + 12} text-anchor="middle" font-size={FONT} font-weight="600" fill={colors.faint}>{lane.caption}</text>
          </g>
        ))}
        {curves.map(({ link, path }) => <Edge key={link.key + path} link={link} path={path} share={link.strength / best} picked={picked === `l:${link.key}`} faded={fades(picked, link)} onPick={onPick} />)}
        {curves.map(({ link, path, mark, name }) => link.sign || name ? <Mark key={link.key + path} link={link} mark={mark} name={name} faded={fades(picked, link)} onPick={onPick} /> : null)}
        {drawing.headings.map((heading) => (
          <text key={`${heading.x},${heading.y}`} x={heading.x} y={heading.y} font-size="12" font-weight="600" fill={colors.faint}>
            {heading.lines.map((line, row) => <tspan key={line} x={heading.x} dy={row ? LINE : 0}>{line}</tspan>)}
          </text>
        ))}
        {drawing.boxes.map((box) => (
          <Node key={box.item.key + box.column} box={box} picked={picked === `n:${box.item.entity.id}`} pinned={pinned.has(box.item.entity.id)} mark={names.marks.get(box.item.entity.id) ?? ""} onPick={onPick} onAct={onAct} />
        ))}
        {drawing.folds.map(({ section, x, y }) => {
          const open = folds.has(section.id);
          if (!section.more && !open) return null;
          const text = section.more ? t("more", { n: section.more }) : t("fewer");
          const act = () => onFold(section.id);
          return (
            <g key={section.id} class="fold" role="button" tabindex={0} aria-label={`${section.title} ${text}`} onClick={act} onKeyDown={(event) => event.key === "Enter" && act()}>
              <rect x={x} y={y} width={WIDTH} height={ROW - 2} rx="4" fill={colors.lane} />
              <text x={x + 8} y={y + 15} font-size="12" fill={colors.focus}>{text} {section.more ? "▾" : "▴"}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function marksOf(plan: Plan): Map<string, "is_new" | "is_ended"> {
  const marks = new Map<string, "is_new" | "is_ended">();
  const old = new Set<string>();
  for (const link of plan.links) {
    for (const end of [link.subject.id, link.object.id]) {
      if (!link.isNew && !link.ended) old.add(end);
      else if (!marks.has(end)) marks.set(end, link.isNew ? "is_new" : "is_ended");
    }
  }
  for (const id of old) marks.delete(id);
  return marks;
}

/** Return what tells items of one name apart: their kind, or the code where the kind is the same. */
export function namesakesOf(all: Entity[], asOf: number): Map<string, string> {
  const named = new Map<string, Map<string, Entity>>();
  for (const entity of all) named.set(nameAt(entity, asOf), (named.get(nameAt(entity, asOf)) ?? new Map()).set(entity.id, entity));
  const found = new Map<string, string>();
  for (const alike of named.values()) {
    if (alike.size < 2) continue;
    for (const entity of alike.values()) {
      const sameKind = [...alike.values()].some((other) => other !== entity && other.kind === entity.kind);
      found.set(entity.id, t("kind_of", { a: sameKind ? entity.code || t("no_code") : wordOf(meta.kinds[entity.kind]) }));
    }
  }
  return found;
}

/** The key without the separator, which XML, and so a saved picture, may not hold. */
function plainKey(link: Link): string {
  return link.key.replaceAll(UNIT, " ");
}

/** Light what a name or a line under the pointer is linked with; all else is dimmed. Nothing is drawn anew. */
function light(svg: SVGSVGElement, target: Element | null, links: Link[]): void {
  const over = target?.closest<SVGGElement>(".node, .edge, .mark");
  const { id, key } = over?.dataset ?? {};
  if (svg.classList.contains("dim") === !!over && svg.dataset.over === (id ?? key)) return;
  if (over) svg.dataset.over = id ?? key;
  const lit = links.filter((link) => plainKey(link) === key || link.subject.id === id || link.object.id === id);
  const names = new Set([id, ...lit.flatMap((link) => [link.subject.id, link.object.id])]);
  const lines = new Set<string | undefined>(lit.map(plainKey));
  svg.classList.toggle("dim", !!over);
  for (const each of svg.querySelectorAll<SVGGElement>(".node, .edge, .mark")) {
    each.classList.toggle("lit", each.dataset.id ? names.has(each.dataset.id) : lines.has(each.dataset.key));
  }
}

function fades(picked: string, link: Link): boolean {
  if (picked.startsWith("n:")) return link.subject.id !== picked.slice(2) && link.object.id !== picked.slice(2);
  return picked.startsWith("l:") && picked.slice(2) !== link.key;
}

type Point = [x: number, y: number];

interface Curve {
  link: Link;
  path: string;
  at: (share: number) => Point;
  /** the place of the sign, and the relation's name if there is room for it */
  mark: Point;
  name: { text: string; x: number; y: number } | null;
}

/** places along a line from its middle outwards */
const ALONG = Array.from({ length: 45 }, (_, step) => 0.5 + (step % 2 ? 0.02 : -0.02) * Math.ceil(step / 2));
const MARK = 8;
/** of a sign that finds no room of its own: it may touch another, but not cover it */
const TIGHT = 5;
/** lines of one relation at one end that have its name on them; more would only repeat it */
const NAMED = 2;
/** lines of a picture; names on more would hide the lines */
const CROWD = 45;

/** The stronger a link, the later it is drawn, so that a weak one never covers it; signs and names keep apart. */
function curvesOf(plan: Plan, drawing: Drawing): Curve[] {
  const boxes = new Map<string, Box[]>();
  for (const box of drawing.boxes) {
    const id = box.item.entity.id;
    boxes.set(id, [...(boxes.get(id) ?? []), box]);
  }
  const curves: Curve[] = [];
  const between = new Map<string, number>();
  const links = plan.links.filter((link) => !plan.nested.has(link.key)).sort((one, two) => two.strength - one.strength || (one.key < two.key ? -1 : 1));
  for (const link of links) {
    const home = plan.homes.get(link.key);
    const boxOf = (id: string) => {
      const all = boxes.get(id) ?? [];
      return all.find((box) => box.section === home) ?? all.find((box) => !box.item.inset) ?? all[0];
    };
    const [from, into] = [boxOf(link.subject.id), boxOf(link.object.id)];
    if (!from || !into || from === into) continue;
    const ends = [link.subject.id, link.object.id].sort().join(" ");
    const turn = between.get(ends) ?? 0;
    between.set(ends, turn + 1);
    curves.push(curve(link, from, into, turn, drawing));
  }
  const taken: [number, number, number, number][] = drawing.boxes.map((box) => [box.x, box.y, box.x + box.width, box.y + box.height]);
  for (const { x, y } of drawing.folds) taken.push([x, y, x + WIDTH, y + ROW]);
  for (const { x, y, lines } of drawing.headings) taken.push([x, y - 14, x + WIDTH, y + 5 + (lines.length - 1) * LINE]);
  for (const each of curves) {
    if (each.link.sign) {
      each.mark = spot(each.at, MARK, MARK, taken) ?? spot(each.at, TIGHT, MARK, taken.slice(drawing.boxes.length)) ?? each.at(0.5);
      taken.push([each.mark[0] - MARK, each.mark[1] - MARK, each.mark[0] + MARK, each.mark[1] + MARK]);
    }
  }
  const named = new Map<string, number>();
  const chain = plan.columns.some((column) => column.caption);
  const crowded = curves.length > CROWD;
  for (const each of curves) {
    // the columns of a chain say what its lines mean
    const plain = !each.link.contested && !each.link.negated && (crowded || (chain && each.link.relation.role === "flow"));
    const text = plain ? "" : shortName(each.link);
    const hubs = [each.link.subject.id, each.link.object.id].map((id) => `${id} ${text}`);
    const place = text && (each.link.contested || hubs.every((hub) => (named.get(hub) ?? 0) < NAMED)) ? spot(each.at, widthOf(text, SMALL) / 2 + 2, 7, taken) : null;
    if (!place) continue;
    for (const hub of hubs) named.set(hub, (named.get(hub) ?? 0) + 1);
    each.name = { text, x: place[0], y: place[1] + 4 };
    const half = widthOf(text, SMALL) / 2 + 2;
    taken.push([place[0] - half, place[1] - 7, place[0] + half, place[1] + 7]);
  }
  return curves.reverse();
}

/** Return the first place along a curve for a text of this half width and height that covers nothing. */
function spot(at: Curve["at"], across: number, down: number, taken: [number, number, number, number][]): Point | null {
  for (const share of ALONG) {
    const [x, y] = at(share);
    if (taken.every(([left, top, right, bottom]) => x + across <= left || x - across >= right || y + down <= top || y - down >= bottom)) return [x, y];
  }
  return null;
}

/** Return the name of a relation for its line: 是…的上游 → 上游. A signed line is identified by its sign; ≠ is contested. */
function shortName(link: Link): string {
  const contested = link.contested ? "≠" : "";
  if (link.relation.family === "causal" && !link.negated) return contested;
  const words = wordOf(link.relation.wording);
  const short = words.includes("…") ? words.replace(/^.*…的?/, "") || words.replace("…", "") : words;
  return `${link.negated ? t("negated") : ""}${short}${contested}`;
}

/** Several links between the same two ends run side by side; one that crosses columns passes between their boxes. */
function curve(link: Link, from: Box, into: Box, turn: number, drawing: Drawing): Curve {
  const shift = turn ? (turn % 2 ? 7 : -7) * Math.ceil(turn / 2) : 0;
  const y1 = from.y + from.height / 2 + shift;
  const y2 = into.y + into.height / 2 + shift;
  const right = into.column > from.column;
  if (from.column === into.column) {
    const [x1, x2] = [from.x + from.width, into.x + into.width];
    const bend = Math.max(x1, x2) + Math.min(drawing.gap - 22, 16 + Math.abs(y2 - y1) / 12) + Math.abs(shift);
    return through(link, [[[x1, y1], [bend, y1], [bend, y2], [x2, y2]]]);
  }
  const start: Point = [right ? from.x + from.width : from.x, y1];
  const end: Point = [right ? into.x : into.x + into.width, y2];
  const stops: Point[] = [start];
  const step = right ? 1 : -1;
  for (let column = from.column + step; column !== into.column; column += step) {
    const wanted = y1 + (y2 - y1) * Math.abs((column - from.column) / (into.column - from.column));
    const y = gapNear(drawing, column, wanted);
    const x = PAD + column * (WIDTH + drawing.gap);
    stops.push(right ? [x - 6, y] : [x + WIDTH + 6, y], right ? [x + WIDTH + 6, y] : [x - 6, y]);
  }
  stops.push(end);
  return through(link, stops.slice(1).map((stop, row): Segment => {
    const before = stops[row]!;
    const bend = (before[0] + stop[0]) / 2;
    return [before, [bend, before[1]], [bend, stop[1]], stop];
  }));
}

/** Return the height nearest to one at which a line passes a column without meeting a box or a heading. */
function gapNear(drawing: Drawing, column: number, wanted: number): number {
  const x = PAD + column * (WIDTH + drawing.gap);
  const spans = drawing.boxes.filter((box) => box.column === column).map((box): [number, number] => [box.y - 3, box.y + box.height + 3]);
  spans.push(...drawing.headings.filter((each) => each.x === x).map((each): [number, number] => [each.y - 14, each.y + 5 + (each.lines.length - 1) * LINE]));
  spans.push(...drawing.folds.filter((each) => each.x === x).map((each): [number, number] => [each.y - 2, each.y + ROW]));
  const free = (y: number) => spans.every(([top, bottom]) => y <= top || y >= bottom);
  if (free(wanted)) return wanted;
  const edges = spans.flatMap(([top, bottom]) => [top, bottom]).filter(free);
  return edges.reduce((best, y) => (Math.abs(y - wanted) < Math.abs(best - wanted) ? y : best), edges[0] ?? wanted);
}

type Segment = [Point, Point, Point, Point];

function through(link: Link, segments: Segment[]): Curve {
  const [[x, y]] = segments[0]!;
  const path = segments.map(([, one, two, end]) => `C${one[0]} ${one[1]} ${two[0]} ${two[1]} ${end[0]} ${end[1]}`).join("");
  const at = (share: number): Point => {
    const place = Math.min(segments.length - 1, Math.floor(share * segments.length));
    const [one, two, three, four] = segments[place]!;
    const rest = share * segments.length - place;
    const along = (way: 0 | 1) =>
      (1 - rest) ** 3 * one[way] + 3 * (1 - rest) ** 2 * rest * two[way] + 3 * (1 - rest) * rest ** 2 * three[way] + rest ** 3 * four[way];
    return [along(0), along(1)];
  };
  return { link, path: `M${x} ${y}${path}`, at, mark: at(0.5), name: null };
}

interface EdgeProps extends Pick<Curve, "link" | "path"> {
  share: number;
  picked: boolean;
  faded: boolean;
  onPick: Props["onPick"];
}

function Edge({ link, path, share, picked, faded, onPick }: EdgeProps) {
  const colors = palette();
  const tone = link.ended ? "ended" : link.negated ? "ended" : link.sign > 0 ? "plus" : link.sign < 0 ? "minus" : "neutral";
  const color = colorOf(link);
  const width = (link.weak ? 0.8 : 1.1 + 2.2 * Math.sqrt(Math.min(1, share))) + (picked ? 1.2 : 0);
  const dash = link.ended || link.negated ? "2 4" : link.weak ? "1 3" : DASHES[link.modality];
  const heads = link.relation.symmetric ? {} : { "marker-end": `url(#arrow-${tone})` };
  return (
    <g class="edge" data-key={plainKey(link)} data-link={`${link.subject.name} → ${link.object.name}`} opacity={faded ? 0.25 : 1} onClick={(event) => (event.stopPropagation(), onPick(`l:${link.key}`))}>
      {link.isNew ? <path d={path} fill="none" stroke={colors.fresh} stroke-width={width + 4} opacity="0.35" /> : null}
      {link.contested ? <path d={path} fill="none" stroke={colors.contested} stroke-width={width + 5} opacity="0.7" /> : null}
      <path d={path} fill="none" stroke={color} stroke-width={width} stroke-dasharray={dash || undefined} {...heads} />
      <path class="hit" d={path} fill="none" stroke="transparent" stroke-width="12">
        <title>{wordOf(link.relation.wording)}</title>
      </path>
    </g>
  );
}

function colorOf(link: Link): string {
  return link.ended || link.negated ? palette().ended : signColor(link.sign);
}

interface MarkProps extends Pick<Curve, "link" | "mark" | "name"> {
  faded: boolean;
  onPick: Props["onPick"];
}

/** The name and the sign of a link, above all lines, so that none is painted over. */
function Mark({ link, mark, name, faded, onPick }: MarkProps) {
  const { paper, faint } = palette();
  const color = colorOf(link);
  return (
    <g class="mark" data-key={plainKey(link)} data-link={`${link.subject.name} → ${link.object.name}`} opacity={faded ? 0.25 : 1} onClick={(event) => (event.stopPropagation(), onPick(`l:${link.key}`))}>
      {name ? <text x={name.x} y={name.y} font-size={SMALL} text-anchor="middle" fill={link.sign || link.negated ? color : faint} stroke={paper} stroke-width="3" paint-order="stroke">{name.text}</text> : null}
      {link.sign ? <circle cx={mark[0]} cy={mark[1]} r="7" fill={paper} stroke={color} /> : null}
      {link.sign ? <text x={mark[0]} y={mark[1] + 4} font-size="12" font-weight="700" text-anchor="middle" fill={color}>{link.sign > 0 ? "+" : "−"}</text> : null}
    </g>
  );
}

/** Opened by keyboard, the evidence takes the focus; when it closes, the focus returns to the name. */
function focusEvidence(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(".drawer .shut")?.focus());
}

/** A click waits this long for a second one: evidence opens on one, neighbours on two. */
const DOUBLE = 230;
let waiting = 0;

interface NodeProps {
  box: Box;
  picked: boolean;
  pinned: boolean;
  mark: "is_new" | "is_ended" | "";
  onPick: Props["onPick"];
  onAct: Props["onAct"];
}

function Node({ box, picked, pinned, mark, onPick, onAct }: NodeProps) {
  const colors = palette();
  const { item, face, x, y, width, height } = box;
  const { entity } = item;
  const [fill, line] = kindColors(entity.kind);
  const { name, move, badge } = face;
  const keys: Record<string, () => void> = {
    Enter: () => (onPick(`n:${entity.id}`), focusEvidence()), e: () => onAct("expand", entity.id), h: () => onAct("hide", entity.id),
    p: () => onAct("pin", entity.id), o: () => onAct("open", entity.id),
  };
  const note = item.inset ? face.aside : face.note.join("");
  const spoken = [`${name}${move}${note}${badge}`, entity.code === note ? "" : entity.code, item.weak ? t("unsure") : ""].filter(Boolean).join(" · ");
  const below = y + ROW + (face.lines.length - 1) * LINE;
  return (
    <g
      class="node"
      role="button"
      tabindex={0}
      data-id={entity.id}
      data-topic={item.strong || undefined}
      aria-label={spoken}
      aria-pressed={picked}
      onPointerDown={(event) => event.stopPropagation()}
      onClick={(event) => (event.detail > 1 ? clearTimeout(waiting) : (waiting = window.setTimeout(() => onPick(`n:${entity.id}`), DOUBLE)))}
      onDblClick={() => (clearTimeout(waiting), onAct("expand", entity.id))}
      onKeyDown={(event) => {
        const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
        if (act) {
          event.preventDefault();
          act();
        }
      }}
    >
      <title>{[name, entity.code, entity.aliases].filter(Boolean).join(" · ")}</title>
      <rect x={x} y={y} width={width} height={height} rx={entity.kind === "company" ? 3 : 11} fill={fill} stroke={picked ? colors.focus : mark === "is_new" ? colors.fresh : line} stroke-width={picked ? 2.5 : item.strong ? 2.2 : 1} stroke-dasharray={mark === "is_ended" ? "3 3" : item.weak ? "1 3" : undefined} />
      <text x={x + 8} y={y + 16.5} font-size={sizeOf(item)} font-weight={item.strong ? 700 : 400} fill={colors.ink} text-decoration={mark === "is_ended" ? "line-through" : undefined}>
        {face.lines.map((line, row) => <tspan key={row} x={x + 8} dy={row ? LINE : 0}>{line}</tspan>)}
        {move ? <tspan fill={signColor(item.move)} font-weight="700">{move}</tspan> : null}
      </text>
      {face.note.map((line, row) => <text key={row} x={x + 8} y={below + 6 + row * NOTE} font-size={SMALL} fill={colors.faint}>{line}{" "}</text>)}
      {face.aside ? <text x={x + width - 7 - (badge ? widthOf(badge, SMALL) + 8 : 0)} y={y + 16} text-anchor="end" font-size={SMALL} fill={colors.faint}>{face.aside}</text> : null}
      {badge ? (
        <text x={x + width - 7} y={y + 16} text-anchor="end" font-size={SMALL} font-weight="600" fill={mark === "is_new" ? colors.fresh : colors.ended}>{badge}</text>
      ) : null}
      {pinned ? <circle cx={x + width - 8} cy={y + height - 7} r="4" fill={colors.focus} /> : null}
    </g>
  );
}
