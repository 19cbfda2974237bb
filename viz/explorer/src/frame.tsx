/** What all views share: the frame with its tools, the drawn plan, its legend, and what to do where nothing is shown. */

import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Loading } from "./app";
import { asOfText, ensure, entityOf, filtersOf, firstDay, lastDay, meta, records, source, useLoading } from "./app";
import { claimText } from "./claims";
import { CommonMenu, ExportMenu, Filters, TimeBar, UndoButton, ViewTabs } from "./controls";
import type { Entity } from "./data";
import { iso, nameAt } from "./data";
import { Drawer, LIST } from "./drawer";
import type { Link, ViewFilter } from "./links";
import { linesOf, linksOf } from "./links";
import { WatchButton } from "./kept";
import { kindColors } from "./palette";
import { Picture } from "./picture";
import type { Plan } from "./plans";
import type { Match, Passage } from "./source";
import type { Route } from "./state";
import { change, go, hrefTo, read, to, viewFor } from "./state";
import type { Key } from "./words";
import { pick, t } from "./words";

type Action = "expand" | "hide" | "pin" | "open";

export function flip(list: string[], id: string): string[] {
  return list.includes(id) ? list.filter((each) => each !== id) : [...list, id];
}

/** Do what a reader asks of a node; each is a step that the back button undoes. */
export function act(route: Route, action: Action, id: string): void {
  if (action === "open") return go(to(viewFor(entityOf(id)?.kind ?? ""), id));
  if (action === "hide") return change({ hidden: [...route.hidden, id], pick: "" });
  if (action === "pin") return change({ pinned: flip(route.pinned, id) });
  void ensure([id]).then(() => change({ expanded: flip(route.expanded, id) }));
}

interface FrameProps {
  route: Route;
  title: string;
  subtitle: string;
  loading: Loading;
  links: Link[];
  tabs: [string, Key][];
  notice?: string;
  /** what a saved picture says, beside its title, that it answers */
  asked?: string;
  /** how many links or events are too unsure to be shown */
  weak?: number;
  children: ComponentChild;
}

/** The frame of every view: title, tabs, tools, contents, drawer, time, and the numbered sources of a printed page. */
export function Frame({ route, title, subtitle, loading, links, tabs, notice, asked, weak = 0, children }: FrameProps) {
  const shown = tabs.some(([tab]) => tab === route.tab) ? route.tab : "";
  const watched = route.ids.length === 1 ? entityOf(route.ids[0]!) : undefined;
  useEffect(() => {
    document.title = `${title} · ${t("title")}`;
  }, [title]);
  return (
    <>
      <header class="head">
        <h1>{title}</h1>
        <span class="faint">{subtitle}</span>
        <ViewTabs route={route} />
        <span class="grow" />
        <WeakSwitch on={route.weak > 0} count={weak} />
        {tabs.length > 1 ? (
          <nav class="tabs small" aria-label={title}>
            {tabs.map(([tab, key]) => <a key={tab} href="#" aria-current={tab === shown ? "page" : undefined} onClick={(event) => { event.preventDefault(); change({ tab }); }}>{t(key)}</a>)}
          </nav>
        ) : null}
        {route.hidden.length ? <button type="button" onClick={() => change({ hidden: [] })}>{t("unhide", { n: route.hidden.length })}</button> : null}
        {links.length ? <button type="button" aria-pressed={route.pick === LIST} onClick={() => change({ pick: route.pick === LIST ? "" : LIST }, route.pick !== "")}>{t("list")}</button> : null}
        {watched ? <WatchButton entity={watched} /> : null}
        <CommonMenu route={route} />
        <UndoButton />
        <Filters route={route} />
        <ExportMenu name={asked ? `${title} · ${asked}` : title} links={links} />
      </header>
      <div class="stage">
        <div class="content">
          {loading.state === "loading" ? <p class="faint wait" role="status">{t("loading")}</p> : loading.state === "failed" ? <Failed loading={loading} /> : children}
          {[notice, isElsewhere(route) ? t("alone") : ""].filter(Boolean).map((text) => <p key={text} class="notice faint">{text}</p>)}
        </div>
        <Drawer route={route} links={links} act={(action, id) => act(route, action, id)} />
      </div>
      <TimeBar route={route} links={links} />
      <Sources links={links} asOf={filtersOf(route).asOf} />
    </>
  );
}

/** Whether a file of one answer is asked for something else, of which it holds only what the answer needed. */
function isElsewhere(route: Route): boolean {
  const start = read(meta.start);
  return meta.alone && (route.view !== start.view || route.ids.join() !== start.ids.join());
}

export function Failed({ loading }: { loading: Loading }) {
  const { why } = loading;
  const text = why === "offline" ? t("failed_offline") : why === "missing" ? t("failed_missing") : t("failed_other", { n: why });
  return <div class="failed" role="alert"><h2>{t("failed")}</h2><p>{text}</p><button type="button" onClick={loading.retry}>{t("retry")}</button></div>;
}

const PRINTED = 300;

function Sources({ links, asOf }: { links: Link[]; asOf: number }) {
  return (
    <section class="printed">
      <h2>{t("numbered")} · {t("as_of")} {iso(asOf)}</h2>
      <ol>
        {links.slice(0, PRINTED).map((link) => {
          const seen = link.seen[0]!;
          const item = seen.evidence.at(-1)!;
          return <li key={link.key}>{claimText(seen.fact, asOf)} —— {item.doc.title}，{item.speaker || item.doc.publisher}，{iso(item.doc.day)}</li>;
        })}
      </ol>
    </section>
  );
}

export function Drawn({ plan, route, filters, title }: { plan: Plan; route: Route; filters: ViewFilter; title: string }) {
  return (
    <Picture
      plan={plan} asOf={filters.asOf} picked={route.pick} pinned={filters.pinned} folds={new Set(route.open)} label={title}
      onPick={(what) => change({ pick: what }, route.pick !== "")}
      onAct={(action, id) => act(route, action, id)}
      onFold={(section) => change({ open: flip(route.open, section) })}
    />
  );
}

export function kindsOf(plan: Plan): string[] {
  return plan.columns.flatMap(({ sections }) => sections.flatMap(({ items }) => items.map(({ entity }) => entity.kind)));
}

/** What the kinds and lines that are drawn look like; a network draws but the first three kinds of lines. */
export function Legend({ all, links, plain = false, children }: { all: string[]; links: Link[]; plain?: boolean; children?: ComponentChild }) {
  const kinds = new Set(all);
  const lines = plain ? linesOf(links).filter(([tone, , dash]) => !dash && tone !== "contested") : linesOf(links);
  return (
    <p class="legend faint" aria-label={t("legend")}>
      {children}
      {Object.keys(meta.kinds).filter((kind) => kinds.has(kind)).map((kind) => <span key={kind}><svg width="18" height="12" aria-hidden="true"><rect x="1" y="1" width="16" height="10" rx={kind === "company" ? 2 : 5} fill={kindColors(kind)[0]} stroke={kindColors(kind)[1]} /></svg>{pick(meta.kinds[kind])}</span>)}
      {lines.map(([tone, key, dash]) => <span key={key}><svg width="26" height="8" aria-hidden="true"><line x1="0" x2="26" y1="4" y2="4" class={tone} stroke-dasharray={dash || undefined} /></svg>{t(key)}</span>)}
      <span title={t("hint_keys")}>{t("hint")}</span>
    </p>
  );
}

/** What to do where nothing is shown: similar names, passages, the days covered. */
export function Empty({ name, route }: { name: string; route: Route }) {
  const [near, setNear] = useState<Match[]>([]);
  const [found, setFound] = useState<Passage[] | null>(null);
  const day = asOfText(route) || iso(lastDay);
  useLoading(() => source.search(name.slice(0, 2), asOfText(route), 6).then(setNear), `near:${name}:${day}`);
  const look = () => void source.passages(name, asOfText(route)).then(setFound);
  const id = route.ids[0] ?? "";
  const known = entityOf(id) !== undefined;
  const unsure = filtersOf(route).weak ? 0 : linksOf(records, id, { ...filtersOf(route), weak: true }).length;
  return (
    <div class="empty">
      <h2>{known ? t("empty", { day }) : t("unknown", { a: name })}</h2>
      <p>{t(known ? "empty_hint" : "unknown_hint")}</p>
      {unsure ? <button type="button" class="main" onClick={() => change({ weak: 1 })}>{t("weak_show", { n: unsure })}</button> : null}
      <p>{t("covered", { from: iso(firstDay), to: iso(lastDay) })}</p>
      {near.length ? <h3>{t("near")}</h3> : null}
      <p class="topics">{near.filter((match) => match.name !== name).map((match) => <a key={match.id} class="chip" href={hrefTo(viewFor(match.kind), match.id)}>{match.name}</a>)}</p>
      <h3>{t("passages")}</h3>
      {found === null ? <button type="button" onClick={look}>{t("search_passages")}</button> : null}
      {found?.length === 0 ? <p>{t("none_found", { a: name })}</p> : null}
      {found?.map((passage) => <blockquote key={passage.document + passage.start}><p class="quote">{passage.text}</p><footer>{passage.title} · {passage.day}</footer></blockquote>)}
    </div>
  );
}

export function header(entity: Entity | undefined, id: string, asOf: number): [string, string] {
  if (!entity) return [id.split(":").at(-1) ?? id, ""];
  return [nameAt(entity, asOf), [pick(meta.kinds[entity.kind]), entity.code, entity.aliases].filter(Boolean).join(" · ")];
}

export function leftText(plan: Plan): string {
  const shown = plan.columns.reduce((sum, column) => sum + column.sections.reduce((each, section) => each + section.items.length, 0), 0);
  const left = plan.left + plan.columns.reduce((sum, column) => sum + column.sections.reduce((each, section) => each + section.more, 0), 0);
  return left ? t("too_many", { n: shown, m: left }) : "";
}
/** Say how many links are too unsure to be shown, and show them on demand. */
function WeakSwitch({ on, count }: { on: boolean; count: number }) {
  if (on) return <button type="button" aria-pressed="true" onClick={() => change({ weak: 0 })}>{t("weak_hide")}</button>;
  return count ? <button type="button" aria-pressed="false" onClick={() => change({ weak: 1 })}>{t("weak_show", { n: count })}</button> : null;
}

export function evidenceButton(link: Link, text: string): ComponentChild {
  return <button type="button" class="link" onClick={() => change({ pick: `l:${link.key}` }, true)}>{text}</button>;
}
