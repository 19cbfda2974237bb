/** The frame of every view: search, time, filters, export. */

import { useEffect, useRef, useState } from "preact/hooks";
import { asOfDay, asOfText, firstDay, lastDay, meta, runDay, runOf, sinceDay, source } from "./app";
import { dayOf, iso } from "./data";
import type { Link } from "./links";
import { isPictured, linesOf } from "./links";
import type { Match } from "./source";
import { SourceError } from "./source";
import type { Route } from "./state";
import { canUndo, change, current, go, to, undo, write } from "./state";
import { kindColors, palette, signColor } from "./palette";
import type { Key } from "./words";
import { isKey, pick, t } from "./words";
import type { Caption } from "./exports";
import { saveGraphml, savePdf, savePng, saveSvg } from "./exports";

const FOUND = 8;

interface SearchProps {
  /** whether a question may be typed here too */
  asking?: boolean;
  route: Route;
  id: string;
  label: string;
  onChoose: (match: Match) => void;
}

/** Whether a text is a question rather than a name. */
function isQuestion(text: string): boolean {
  return /[?？]\s*$|谁|什么|哪些|哪家|怎么|如何|为什么|多少|吗|受益|受损|影响/.test(text) || /^(who|what|which|how|why)\b/i.test(text.trim());
}

/** A search field with a list of matches, by keyboard as in the ARIA combobox pattern. */
export function Search({ route, id, label, onChoose, asking = true }: SearchProps) {
  const [text, setText] = useState("");
  const [matches, setMatches] = useState<Match[] | null>(null);
  const [active, setActive] = useState(-1);
  const turn = useRef(0);
  const asked = asOfText(route);
  const look = async (wanted: string) => {
    setText(wanted);
    setActive(-1);
    const mine = ++turn.current;
    if (!wanted.trim()) return setMatches(null);
    try {
      const found = await source.search(wanted.trim(), asked, FOUND);
      if (turn.current === mine) setMatches(found);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (turn.current === mine) setMatches([]);
    }
  };
  const choose = (match: Match | undefined) => {
    if (!match) return;
    setText("");
    setMatches(null);
    onChoose(match);
  };
  const asks = asking && meta.mode === "served" && text.trim().length > 3;
  const ask = () => {
    setText("");
    setMatches(null);
    go(to("ask", text.trim()));
  };
  const onKey = (event: KeyboardEvent) => {
    const count = matches?.length ?? 0;
    if (event.key === "Enter" && asks && active < 0 && (count === 0 || isQuestion(text))) ask();
    else if (event.key === "ArrowDown" && count) setActive((active + 1) % count);
    else if (event.key === "ArrowUp" && count) setActive((active - 1 + count) % count);
    else if (event.key === "Enter") choose(matches?.[Math.max(0, active)]);
    else if (event.key === "Escape") setMatches(null);
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <input
        id={id}
        type="search"
        role="combobox"
        aria-label={label}
        aria-expanded={matches !== null}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={label}
        value={text}
        onInput={(event) => void look(event.currentTarget.value)}
        onKeyDown={onKey}
        onBlur={() => setTimeout(() => setMatches(null), 200)}
      />
      {matches === null ? <div id={`${id}-list`} role="listbox" aria-label={label} hidden /> : (
        <div id={`${id}-list`} role="listbox" class="matches" aria-label={label}>
          {matches.map((match, row) => (
            <div key={match.id} id={`${id}-${row}`} role="option" aria-selected={row === active} class={row === active ? "active" : ""} onPointerDown={(event) => event.preventDefault()} onClick={() => choose(match)}>
              {match.name} <span class="faint">{[pick(meta.kinds[match.kind]), match.code, match.matched !== match.name && match.matched !== match.code ? match.matched : ""].filter(Boolean).join(" · ")}</span>
            </div>
          ))}
          {asks ? <div id={`${id}-ask`} role="option" aria-selected="false" class="ask" onPointerDown={(event) => event.preventDefault()} onClick={ask}>{t("ask_this", { a: text.trim() })}</div> : null}
          {matches.length ? null : <div role="option" aria-selected="false" aria-disabled="true" class="faint">{t("none_found", { a: text })}</div>}
        </div>
      )}
    </div>
  );
}

const SINCE: [string, Key][] = [["", "compare_none"], ["week", "compare_week"], ["month", "compare_month"], ["quarter", "compare_quarter"]];

/** The slider over publication days; a step only filters what is loaded. */
export function TimeBar({ route, links }: { route: Route; links: Link[] }) {
  const [playing, setPlaying] = useState(false);
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const days = meta.days.map(([day]) => day);
  const asOf = asOfDay(route);
  const place = Math.max(0, days.findLastIndex((day) => day <= asOf));
  const set = (row: number, replace = true) => {
    const day = days[Math.max(0, Math.min(days.length - 1, row))] ?? lastDay;
    change({ day: day === lastDay ? "" : iso(day) }, replace);
  };
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => (place >= days.length - 1 ? setPlaying(false) : set(place + 1)), 250);
    return () => clearInterval(timer);
  }, [playing, place]);
  const since = sinceDay(route);
  const fresh = links.filter((link) => link.isNew).length;
  const ended = links.filter((link) => link.ended).length;
  /** the span under the pointer, else the one that is compared */
  const marked = brush ?? (since === null ? null : [since, asOf] as [number, number]);
  const dayAt = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    return Math.round(firstDay + span * Math.max(0, Math.min(1, (event.clientX - box.left - 7) / (box.width - 14))));
  };
  const custom = dayOf(route.since) !== null && !SINCE.some(([value]) => value === route.since);
  const most = Math.max(1, ...meta.days.map(([, count]) => count));
  const span = Math.max(1, lastDay - firstDay);
  return (
    <section class="timebar" aria-label={t("as_of")}>
      <button type="button" aria-label={t("earlier")} onClick={() => set(place - 1)}>‹</button>
      <button type="button" aria-label={t(playing ? "pause" : "play")} onClick={() => (setPlaying(!playing), place >= days.length - 1 && set(0))}>{playing ? "⏸" : "▶"}</button>
      <button type="button" aria-label={t("later")} onClick={() => set(place + 1)}>›</button>
      <div class="slider">
        <svg
          viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setBrush([dayAt(event), dayAt(event)]);
          }}
          onPointerMove={(event) => brush && setBrush([brush[0], dayAt(event)])}
          onPointerUp={() => {
            if (brush && brush[0] !== brush[1]) change({ since: iso(Math.min(...brush)), day: Math.max(...brush) >= lastDay ? "" : iso(Math.max(...brush)) });
            setBrush(null);
          }}
          onPointerCancel={() => setBrush(null)}
        >
          <title>{t("brush")}</title>
          <rect width="1000" height="20" fill="transparent" />
          {marked ? <rect class="brush" x={(1000 * (Math.min(...marked) - firstDay)) / span} width={(1000 * Math.abs(marked[1] - marked[0])) / span} height="20" /> : null}
          {meta.days.map(([day, count]) => <rect key={day} x={((day - firstDay) / span) * 994} width="3" y={20 - (18 * count) / most} height={(18 * count) / most} class={day <= asOf ? "past" : "future"} />)}
        </svg>
        <div class="axis faint" aria-hidden="true">{ticks().map(([day, text]) => <span key={day} style={{ left: `${(100 * (day - firstDay)) / span}%` }}>{text}</span>)}</div>
        <input type="range" min={firstDay} max={lastDay} value={asOf} aria-label={t("as_of")} aria-valuetext={iso(asOf)} onInput={(event) => {
          const day = Number(event.currentTarget.value);
          change({ day: day >= lastDay ? "" : iso(day) }, true);
        }} />
      </div>
      <label>{t("as_of")} <input type="date" value={iso(asOf)} min={iso(firstDay)} max={iso(lastDay)} onChange={(event) => {
        const day = dayOf(event.currentTarget.value);
        if (day !== null) change({ day: day >= lastDay ? "" : iso(day) });
      }} /></label>
      <label>{t("compare")}{" "}
        <select value={custom ? "day" : route.since} onChange={(event) => {
          const value = event.currentTarget.value;
          change({ since: value === "day" ? iso(Math.max(firstDay, asOf - 14)) : value });
        }}>
          {SINCE.map(([value, key]) => <option key={value} value={value}>{t(key)}</option>)}
          <option value="day">{t("compare_day")}</option>
        </select>
      </label>
      {custom ? <input type="date" aria-label={t("compare_day")} value={route.since} onChange={(event) => change({ since: event.currentTarget.value })} /> : null}
      {since !== null ? <span class="changes" role="status">{t("changes", { day: iso(since), n: fresh, m: ended })}</span> : null}
    </section>
  );
}

const TICKS = 8;

/** Return the days that the axis names, evenly spread over the time that is covered. */
function ticks(): [number, string][] {
  const span = lastDay - firstDay;
  const long = span > 2 * 366;
  const found: [number, string][] = [];
  const begin = new Date(firstDay * 86_400_000);
  for (let month = 1; month < 1200; month++) {
    const day = Math.round(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + month, 1) / 86_400_000);
    if (day > lastDay) break;
    const text = iso(day).slice(0, 7);
    if (!long || text.endsWith("-01")) found.push([day, long ? text.slice(0, 4) : text]);
  }
  const step = Math.ceil(found.length / TICKS);
  return found.filter(([day], row) => row % step === 0 && day - firstDay < 0.94 * span);
}

const MODALITIES: Key[] = ["asserted", "planned", "forecast", "conditional", "rumoured"];

export function filtersOn(route: Route): number {
  const { relations, kinds, modalities, speakers, certainty, sources, age, disputed, from, to: until } = route;
  return [disputed, relations.length, kinds.length, modalities.length, speakers.length, certainty !== null, sources > 1, age, from || until].filter(Boolean).length;
}

/** Close an open panel on Escape, with the focus back on what opened it, and on a click elsewhere. */
function useClosing(): { current: HTMLDetailsElement | null } {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || !box.current?.open) return;
      box.current.open = false;
      box.current.querySelector("summary")?.focus();
      event.stopPropagation();
    };
    const onPointer = (event: Event) => {
      if (box.current?.open && !box.current.contains(event.target as Node)) box.current.open = false;
    };
    addEventListener("keydown", onKey, true);
    addEventListener("pointerdown", onPointer);
    return () => {
      removeEventListener("keydown", onKey, true);
      removeEventListener("pointerdown", onPointer);
    };
  }, []);
  return box;
}

export function Filters({ route }: { route: Route }) {
  const clear = { relations: [], kinds: [], modalities: [], speakers: [], certainty: null, sources: 0, age: 0, disputed: 0, from: "", to: "" };
  const certainty = Math.round((route.certainty ?? meta.threshold) * 100);
  const box = useClosing();
  return (
    <details class="filters" ref={box}>
      <summary>{filtersOn(route) ? t("filters_on", { n: filtersOn(route) }) : t("filters")}</summary>
      <div class="panel">
        <Choice title={t("relations")} all={meta.relations.filter(isPictured).map((each) => [each.name, pick(each.wording).replace("…", "")])} chosen={route.relations} onChange={(relations) => change({ relations })} />
        <Choice title={t("kinds")} all={Object.entries(meta.kinds).map(([kind, names]) => [kind, pick(names)])} chosen={route.kinds} onChange={(kinds) => change({ kinds })} />
        <Choice title={t("modality")} all={MODALITIES.map((key) => [key, t(key)])} chosen={route.modalities} onChange={(modalities) => change({ modalities })} />
        {meta.publishers.length > 1 ? <Choice title={t("speaker")} all={meta.publishers.slice(0, 40).map(([name]) => [name, name])} chosen={route.speakers} onChange={(speakers) => change({ speakers })} /> : null}
        <fieldset>
          <legend>{t("certainty")}</legend>
          <label class="check"><input type="checkbox" checked={route.disputed > 0} onChange={() => change({ disputed: route.disputed ? 0 : 1 })} />{t("contested_only")}</label>
          <label>{t("min_certainty")} {certainty}%<input type="range" min="0" max="100" step="5" value={certainty} onChange={(event) => change({ certainty: Number(event.currentTarget.value) / 100 })} /></label>
          <label>{t("min_sources")}<input type="number" min="1" max="20" value={route.sources || 1} onChange={(event) => change({ sources: Number(event.currentTarget.value) > 1 ? Number(event.currentTarget.value) : 0 })} /></label>
          <label>{t("max_age")}<input type="number" min="0" step="30" placeholder={t("any")} value={route.age || ""} onChange={(event) => change({ age: Number(event.currentTarget.value) || 0 })} /></label>
          <label>{t("claim_period")}<span class="pair"><input type="date" aria-label={t("claim_period")} value={route.from} onChange={(event) => change({ from: event.currentTarget.value })} /><input type="date" aria-label={t("to")} value={route.to} onChange={(event) => change({ to: event.currentTarget.value })} /></span></label>
        </fieldset>
        <button type="button" onClick={() => change(clear)}>{t("clear")}</button>
      </div>
    </details>
  );
}

interface ChoiceProps {
  title: string;
  all: [string, string][];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

function Choice({ title, all, chosen, onChange }: ChoiceProps) {
  const flip = (value: string) => onChange(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]);
  return (
    <fieldset>
      <legend>{title}</legend>
      {all.map(([value, name]) => <label key={value} class="check"><input type="checkbox" checked={chosen.includes(value)} onChange={() => flip(value)} />{name}</label>)}
    </fieldset>
  );
}

const EXPORTS: [string, (name: string, picture: SVGSVGElement | HTMLCanvasElement, caption: Caption) => unknown][] = [["PNG", savePng], ["PDF", savePdf]];

const CITED = 15;

/** What a saved picture says of itself: its day, its lines, and the documents behind most of its links. */
function captionOf(name: string, links: Link[]): Caption {
  const { neutral, contested } = palette();
  const tones: Record<string, string> = { plus: signColor(1), minus: signColor(-1), contested };
  const kinds = new Set(links.flatMap(({ subject, object }) => [subject.kind, object.kind]));
  const asOf = asOfDay(current());
  const documents = new Map<string, string>();
  for (const link of links) for (const { evidence } of link.seen) for (const { doc } of evidence) documents.set(doc.id, [doc.title, doc.publisher, iso(doc.day)].filter(Boolean).join("，"));
  const cited = [...documents.values()];
  return {
    head: [name, `${t("as_of")} ${iso(asOf)}`],
    kinds: Object.keys(meta.kinds).filter((kind) => kinds.has(kind)).map((kind) => [pick(meta.kinds[kind]), ...kindColors(kind)]),
    legend: linesOf(links).map(([tone, key, dash]) => [t(key), tones[tone] ?? neutral, dash]),
    sources: [`${t("numbered")}：`, ...cited.slice(0, CITED).map((text, row) => `${row + 1}. ${text}`), ...(cited.length > CITED ? [t("more_documents", { n: cited.length - CITED })] : [])],
  };
}

const FILED = new Set(["company", "chain", "factor", "path", "theme", "common"]);

/** Return the address of a file that holds this view alone, which only the service can make. */
function fileOf(route: Route): string {
  if (meta.mode !== "served" || !FILED.has(route.view)) return "";
  const query = new URLSearchParams(route.ids.map((id) => ["id", id]));
  query.set("view", route.view);
  query.set("query", write({ ...route, day: "" }).split("?")[1] ?? "");
  if (asOfText(route)) query.set("as_of", asOfText(route));
  if (route.depth && route.view !== "company") query.set("depth", String(Math.min(4, route.depth)));
  if (route.down) query.set("direction", "down");
  return `explorer/file?${query}`;
}

/** Choose a second name: what both share is shown. A theme is chosen from the list of the week. */
export function CommonMenu({ route }: { route: Route }) {
  const box = useClosing();
  const [id] = route.ids;
  const themes = (route.view === "theme" ? runOf(runDay(asOfDay(route)))?.themes : undefined)?.filter((theme) => theme.id !== id && (theme.level === 0 || !theme.parent)) ?? [];
  if (!id || route.ids.length > 1 || meta.alone) return null;
  return (
    <details class="shared" ref={box}>
      <summary>{t("common")}</summary>
      <div class="panel tall">
        {themes.length ? <label>{t("common_theme")} <select id="common-theme" value="" onChange={(event) => go(to("common", id, event.currentTarget.value))}><option value="">…</option>{themes.map((theme) => <option key={theme.id} value={theme.id}>{theme.title}</option>)}</select></label> : null}
        <p>{t("common_with")}</p>
        <Search route={route} id="common" label={t("common_with")} asking={false} onChoose={(match) => go(to("common", id, match.id))} />
      </div>
    </details>
  );
}

export function ExportMenu({ name, links }: { name: string; links: Link[] }) {
  const box = useClosing();
  const [copied, setCopied] = useState(false);
  const file = fileOf(current());
  const picture = () => document.querySelector<SVGSVGElement>("#picture");
  const canvas = () => document.querySelector<HTMLCanvasElement>("canvas.snapshot");
  const found = () => {
    dispatchEvent(new Event("liantu-snapshot"));
    return picture() ?? canvas();
  };
  return (
    <details class="menu" ref={box}>
      <summary>{t("export")}</summary>
      <div class="panel">
        {EXPORTS.map(([format, save]) => <button key={format} type="button" onClick={() => { const shown = found(); if (shown) void save(name, shown, captionOf(name, links)); }}>{t("export_picture", { a: format })}</button>)}
        <button type="button" onClick={() => { const shown = picture(); if (shown) saveSvg(name, shown, captionOf(name, links)); }}>{t("export_picture", { a: "SVG" })}</button>
        <button type="button" onClick={() => saveGraphml(name, links, iso)}>{t("export_data", { a: "GraphML" })}</button>
        {navigator.clipboard ? <button type="button" onClick={() => void navigator.clipboard.writeText(location.href).then(() => setCopied(true))}>{t(copied ? "copied" : "copy_link")}</button> : null}
        {file ? <a class="button" href={file} download>{t("save_file")}</a> : null}
        <button type="button" onClick={() => print()}>{t("print")}</button>
      </div>
    </details>
  );
}

export function UndoButton() {
  return <button type="button" disabled={!canUndo()} onClick={undo}>{t("undo")}</button>;
}

const VIEWS: [Route["view"], Key][] = [["company", "profile"], ["chain", "chain"], ["factor", "factor"], ["network", "network"]];

export function ViewTabs({ route }: { route: Route }) {
  const [id] = route.ids;
  if (!id || !VIEWS.some(([view]) => view === route.view)) return null;
  return (
    <nav class="tabs" aria-label={t("menu")}>
      {VIEWS.map(([view, key]) => (
        <a key={view} href="#" aria-current={view === route.view ? "page" : undefined} onClick={(event) => { event.preventDefault(); go(to(view, id)); }}>{t(key)}</a>
      ))}
    </nav>
  );
}

export function modalityName(key: string): string {
  return isKey(key) ? t(key) : key;
}
