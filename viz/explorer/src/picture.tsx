/** A plan drawn as SVG: columns of names at a fixed, legible size, and curves between them. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { nameAt } from "./data";
import type { Link } from "./links";
import { DASHES, kindColors, palette, signColor } from "./palette";
import type { Item, Plan, Section } from "./plans";
import { pick as wordOf, t } from "./words";

const WIDTH = 176;
const GAP = 64;
const PAD = 20;
const ROW = 24;
const NOTE = 14;
const SPACE = 5;
const HEAD = 22;
const FONT = 13;
const SMALL = 11;

interface Box {
  item: Item;
  x: number;
  y: number;
  width: number;
  height: number;
  column: number;
}

interface Heading {
  text: string;
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
}

/** Return the width of a text in pixels, near enough to cut it: Chinese characters are square, others about half. */
export function widthOf(text: string, size: number): number {
  let width = 0;
  for (const letter of text) width += letter.charCodeAt(0) > 0x2e80 ? 1 : /[A-Z0-9@%]/.test(letter) ? 0.66 : 0.54;
  return width * size;
}

export function fitted(text: string, width: number, size: number): string {
  if (widthOf(text, size) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && widthOf(`${letters.join("")}…`, size) > width) letters.pop();
  return `${letters.join("")}…`;
}

/** Place every item; columns are centred, so that a short one stands beside the middle of a long one. */
export function arrange(plan: Plan): Drawing {
  const captioned = plan.columns.some((column) => column.caption);
  const top = PAD + (captioned ? 26 : 0);
  const heights = plan.columns.map(({ sections }) => sections.reduce((sum, section) => sum + sectionHeight(section), 0));
  const tallest = Math.max(60, ...heights);
  const drawing: Drawing = { width: 0, height: top + tallest + PAD, boxes: [], headings: [], folds: [], lanes: [] };
  plan.columns.forEach((column, place) => {
    const x = PAD + place * (WIDTH + GAP);
    let y = top + (captioned ? 0 : (tallest - heights[place]!) / 2);
    if (captioned) drawing.lanes.push({ x: x - 12, width: WIDTH + 24, caption: column.caption });
    for (const section of column.sections) {
      if (section.title) {
        drawing.headings.push({ text: section.title, x, y: y + 15 });
        y += HEAD;
      }
      for (const item of section.items) {
        const inset = item.inset ? 14 : 0;
        const height = itemHeight(item);
        drawing.boxes.push({ item, x: x + inset, y, width: WIDTH - inset, height, column: place });
        y += height + SPACE;
      }
      if (section.more || section.items.length > 7) {
        drawing.folds.push({ section, x, y });
        y += ROW;
      }
      y += 10;
    }
    drawing.width = x + WIDTH + PAD;
  });
  return drawing;
}

function itemHeight(item: Item): number {
  return hasNote(item) ? ROW + NOTE : ROW;
}

/** A second line; a company listed under a stage has its code at the end of its only one. */
function hasNote(item: Item): boolean {
  return item.note !== "" && item.note !== "●" && !item.inset;
}

function sectionHeight(section: Section): number {
  const items = section.items.reduce((sum, item) => sum + itemHeight(item) + SPACE, 0);
  return (section.title ? HEAD : 0) + items + (section.more || section.items.length > 7 ? ROW : 0) + 10;
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
  const drawing = arrange(plan);
  const colors = palette();
  const marks = marksOf(plan);
  const best = Math.max(...plan.links.map((link) => link.strength), 0.01);
  useLayoutEffect(() => {
    // begin where the topic stands, which a small window may not show
    const topic = drawing.boxes.find((box) => box.item.strong);
    if (!topic || !frame.current) return;
    frame.current.scrollLeft = topic.x + topic.width / 2 - frame.current.clientWidth / 2;
    frame.current.scrollTop = Math.max(0, topic.y - frame.current.clientHeight / 2);
  }, [label]);
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
      onPointerDown={(event) => {
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
        width={drawing.width}
        height={drawing.height}
        viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        font-family="system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
        role="group"
        aria-label={label}
      >
        <defs>
          {["plus", "minus", "neutral", "fresh", "ended"].map((name) => (
            <marker key={name} id={`arrow-${name}`} viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto-start-reverse">
              <path d="M0 0 8 4 0 8z" fill={(colors as unknown as Record<string, string>)[name]} />
            </marker>
          ))}
        </defs>
        <rect width={drawing.width} height={drawing.height} fill={colors.paper} />
        {drawing.lanes.map((lane) => (
          <g key={lane.x}>
            <rect x={lane.x} y={PAD - 8} width={lane.width} height={drawing.height - 2 * PAD + 16} rx="8" fill={colors.lane} />
            <text x={lane.x + lane.width / 2} y={PAD + 12} text-anchor="middle" font-size={FONT} font-weight="600" fill={colors.faint}>
              {fitted(lane.caption, lane.width - 12, FONT)}
            </text>
          </g>
        ))}
        {curvesOf(plan, drawing).map(({ link, path, middle }) => (
          <Edge key={link.key + path} link={link} path={path} middle={middle} share={link.strength / best} picked={picked === `l:${link.key}`} faded={fades(picked, link)} onPick={onPick} />
        ))}
        {drawing.headings.map((heading) => (
          <text key={`${heading.x},${heading.y}`} x={heading.x} y={heading.y} font-size="12" font-weight="600" fill={colors.faint}>
            {fitted(heading.text, WIDTH, 12)}
          </text>
        ))}
        {drawing.boxes.map((box) => (
          <Node key={box.item.key + box.column} box={box} asOf={asOf} picked={picked === `n:${box.item.entity.id}`} pinned={pinned.has(box.item.entity.id)} mark={marks.get(box.item.entity.id) ?? ""} onPick={onPick} onAct={onAct} />
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

function fades(picked: string, link: Link): boolean {
  if (picked.startsWith("n:")) return link.subject.id !== picked.slice(2) && link.object.id !== picked.slice(2);
  return picked.startsWith("l:") && picked.slice(2) !== link.key;
}

interface Curve {
  link: Link;
  path: string;
  middle: [number, number];
}

function curvesOf(plan: Plan, drawing: Drawing): Curve[] {
  const boxes = new Map<string, Box[]>();
  for (const box of drawing.boxes) {
    const id = box.item.entity.id;
    boxes.set(id, [...(boxes.get(id) ?? []), box]);
  }
  const curves: Curve[] = [];
  const degree = new Map<string, number>();
  for (const { subject, object } of plan.links) for (const end of [subject.id, object.id]) degree.set(end, (degree.get(end) ?? 0) + 1);
  const busy = (id: string) => degree.get(id) ?? 0;
  for (const link of plan.links) {
    if (plan.nested.has(link.key)) continue;
    const from = boxes.get(link.subject.id)?.find((box) => !box.item.inset) ?? boxes.get(link.subject.id)?.[0];
    const into = boxes.get(link.object.id)?.find((box) => !box.item.inset) ?? boxes.get(link.object.id)?.[0];
    if (from && into && from !== into) curves.push(curve(link, from, into, busy(link.subject.id) > busy(link.object.id)));
  }
  return curves;
}

/** A mark on the curve stands near the end with fewer curves, so that marks do not cover each other. */
function curve(link: Link, from: Box, into: Box, late: boolean): Curve {
  const y1 = from.y + from.height / 2;
  const y2 = into.y + into.height / 2;
  if (from.column === into.column) {
    const x = from.x + from.width;
    const x2 = into.x + into.width;
    const bend = Math.max(x, x2) + Math.min(GAP - 22, 16 + Math.abs(y2 - y1) / 12);
    return { link, path: `M${x} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`, middle: [(x + 3 * bend) / 4, (y1 + y2) / 2] };
  }
  const right = into.column > from.column;
  const x1 = right ? from.x + from.width : from.x;
  const x2 = right ? into.x : into.x + into.width;
  const bend = (x1 + x2) / 2;
  const at = late ? 0.74 : 0.26;
  const along = (one: number, two: number, three: number, four: number) =>
    (1 - at) ** 3 * one + 3 * (1 - at) ** 2 * at * two + 3 * (1 - at) * at ** 2 * three + at ** 3 * four;
  return {
    link, path: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`, middle: [along(x1, bend, bend, x2), along(y1, y1, y2, y2)],
  };
}

interface EdgeProps extends Curve {
  share: number;
  picked: boolean;
  faded: boolean;
  onPick: Props["onPick"];
}

function Edge({ link, path, middle, share, picked, faded, onPick }: EdgeProps) {
  const colors = palette();
  const tone = link.ended ? "ended" : link.isNew ? "fresh" : link.negated ? "ended" : link.sign > 0 ? "plus" : link.sign < 0 ? "minus" : "neutral";
  const color = link.ended || link.isNew ? (colors as unknown as Record<string, string>)[tone]! : link.negated ? colors.ended : signColor(link.sign);
  const width = 1.1 + 2.2 * Math.sqrt(share) + (picked ? 1.2 : 0);
  const dash = link.ended || link.negated ? "2 4" : DASHES[link.modality];
  const heads = link.relation.symmetric ? {} : { "marker-end": `url(#arrow-${tone})` };
  return (
    <g class="edge" opacity={faded ? 0.25 : 1} onClick={(event) => (event.stopPropagation(), onPick(`l:${link.key}`))}>
      {link.contested ? <path d={path} fill="none" stroke={colors.contested} stroke-width={width + 5} opacity="0.7" /> : null}
      <path d={path} fill="none" stroke={color} stroke-width={width} stroke-dasharray={dash || undefined} {...heads} />
      <path class="hit" d={path} fill="none" stroke="transparent" stroke-width="12">
        <title>{wordOf(link.relation.wording)}</title>
      </path>
      {link.sign ? (
        <g>
          <circle cx={middle[0]} cy={middle[1]} r="7" fill={colors.paper} stroke={color} />
          <text x={middle[0]} y={middle[1] + 4} font-size="12" font-weight="700" text-anchor="middle" fill={color}>{link.sign > 0 ? "+" : "−"}</text>
        </g>
      ) : null}
    </g>
  );
}

/** A click waits this long for a second one: evidence opens on one, neighbours on two. */
const DOUBLE = 230;
let waiting = 0;

interface NodeProps {
  box: Box;
  asOf: number;
  picked: boolean;
  pinned: boolean;
  mark: "is_new" | "is_ended" | "";
  onPick: Props["onPick"];
  onAct: Props["onAct"];
}

function Node({ box, asOf, picked, pinned, mark, onPick, onAct }: NodeProps) {
  const colors = palette();
  const { item, x, y, width, height } = box;
  const { entity } = item;
  const [fill, line] = kindColors(entity.kind);
  const name = nameAt(entity, asOf);
  const badge = mark ? t(mark) : "";
  const move = item.move > 0 ? " ↑" : item.move < 0 ? " ↓" : "";
  const room = width - 14 - (badge ? widthOf(badge, SMALL) + 14 : 0) - (pinned ? 14 : 0) - (move ? 16 : 0) - (item.inset && item.note ? widthOf(item.note, SMALL) + 10 : 0);
  const keys: Record<string, () => void> = {
    Enter: () => onPick(`n:${entity.id}`), e: () => onAct("expand", entity.id), h: () => onAct("hide", entity.id),
    p: () => onAct("pin", entity.id), o: () => onAct("open", entity.id),
  };
  const note = item.note === "●" ? "" : item.note;
  const short = fitted(name, room, item.strong || !item.inset ? FONT : 12);
  // What is spoken begins with what is seen, and goes on with what did not fit.
  const spoken = [`${short}${move}${note}${badge}`, short === name ? "" : name, entity.code === note ? "" : entity.code].filter(Boolean).join(" · ");
  const heavy = item.strong || !item.inset;
  return (
    <g
      class="node"
      role="button"
      tabindex={0}
      data-id={entity.id}
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
      <rect x={x} y={y} width={width} height={height} rx={entity.kind === "company" ? 3 : 11} fill={fill} stroke={picked ? colors.focus : mark === "is_new" ? colors.fresh : line} stroke-width={picked ? 2.5 : item.strong ? 2.2 : 1} stroke-dasharray={mark === "is_ended" ? "3 3" : undefined} />
      <text x={x + 8} y={y + 16.5} font-size={heavy ? FONT : 12} font-weight={item.strong ? 700 : 400} fill={colors.ink} text-decoration={mark === "is_ended" ? "line-through" : undefined}>
        {short}
        {move ? <tspan fill={signColor(item.move)} font-weight="700">{move}</tspan> : null}
      </text>
      {hasNote(item) ? <text x={x + 8} y={y + ROW + 6} font-size={SMALL} fill={colors.faint}>{fitted(item.note, width - 14, SMALL)}</text> : null}
      {item.inset && item.note ? <text x={x + width - 7 - (badge ? widthOf(badge, SMALL) + 8 : 0)} y={y + 16} text-anchor="end" font-size={SMALL} fill={colors.faint}>{item.note}</text> : null}
      {badge ? (
        <text x={x + width - 7} y={y + 16} text-anchor="end" font-size={SMALL} font-weight="600" fill={mark === "is_new" ? colors.fresh : colors.ended}>{badge}</text>
      ) : null}
      {pinned ? <circle cx={x + width - 8} cy={y + height - 7} r="4" fill={colors.focus} /> : null}
    </g>
  );
}
