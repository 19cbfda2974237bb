/** One view for each question about an entity; all of them draw a plan, list it as a table, and share the tools. */

import type { ComponentChild } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Loading } from "./app";
import { asOfText, ensure, entityOf, firstDay, isLoaded, lastDay, loadPictures, meta, pictureKey, picturesOf, records, filtersOf, source, useLoading } from "./app";
import { claimText, modalityText, notesOf, relationText, valueText } from "./claims";
import { ExportMenu, Filters, TimeBar, UndoButton, ViewTabs } from "./controls";
import type { Entity, VisibleFact, WirePicture } from "./data";
import { iso, nameAt } from "./data";
import { Drawer, LIST } from "./drawer";
import { Figures, figuresOf } from "./figures";
import { Cite, chapterText, livesNow, loadLives, loadRun, runDay, runOf } from "./home";
import type { Link, ViewFilter } from "./links";
import { linksOf, other } from "./links";
import { NetworkView, loadNetwork, networkOf } from "./network";
import { isDark, kindColors } from "./palette";
import { Picture } from "./picture";
import type { Plan, ShownPath } from "./plans";
import { answerPlan, countWeak, membersPlan, outcomesOf, placeOf, profilePlan } from "./plans";
import type { Match, Passage } from "./source";
import type { Route } from "./state";
import { change, go, hrefTo, read, to, viewFor } from "./state";
import { DataTable } from "./table";
import { WatchButton } from "./watch";
import type { Key } from "./words";
import { pick, t } from "./words";

type Action = "expand" | "hide" | "pin" | "open";

function flip(list: string[], id: string): string[] {
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
  children: ComponentChild;
}

/** The frame of every view: title, tabs, tools, contents, drawer, time, and the numbered sources of a printed page. */
function Frame({ route, title, subtitle, loading, links, tabs, notice, children }: FrameProps) {
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
        {tabs.length > 1 ? (
          <nav class="tabs small" aria-label={title}>
            {tabs.map(([tab, key]) => <a key={tab} href="#" aria-current={tab === shown ? "page" : undefined} onClick={(event) => { event.preventDefault(); change({ tab }); }}>{t(key)}</a>)}
          </nav>
        ) : null}
        {route.hidden.length ? <button type="button" onClick={() => change({ hidden: [] })}>{t("unhide", { n: route.hidden.length })}</button> : null}
        {links.length ? <button type="button" aria-pressed={route.pick === LIST} onClick={() => change({ pick: route.pick === LIST ? "" : LIST }, route.pick !== "")}>{t("list")}</button> : null}
        {watched && !meta.alone ? <WatchButton entity={watched} /> : null}
        <UndoButton />
        <Filters route={route} />
        <ExportMenu name={title} links={links} />
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

function Drawn({ plan, route, filters, title }: { plan: Plan; route: Route; filters: ViewFilter; title: string }) {
  return (
    <Picture
      plan={plan} asOf={filters.asOf} picked={route.pick} pinned={filters.pinned} folds={new Set(route.open)} label={title}
      onPick={(what) => change({ pick: what }, route.pick !== "")}
      onAct={(action, id) => act(route, action, id)}
      onFold={(section) => change({ open: flip(route.open, section) })}
    />
  );
}

const LEGEND: [string, Key, string][] = [["plus", "same", ""], ["minus", "opposite", ""], ["neutral", "structure", ""], ["neutral", "uncertain", "4 3"], ["neutral", "unsure", "1 3"], ["denied", "negated", "2 4"], ["contested", "contested_mark", ""]];

function kindsOf(plan: Plan): string[] {
  return plan.columns.flatMap(({ sections }) => sections.flatMap(({ items }) => items.map(({ entity }) => entity.kind)));
}

/** What kinds and lines look like; a network draws but the first three kinds of lines. */
function Legend({ all, lines = LEGEND.length, children }: { all: string[]; lines?: number; children?: ComponentChild }) {
  const kinds = new Set(all);
  return (
    <p class="legend faint" aria-label={t("legend")}>
      {children}
      {Object.keys(meta.kinds).filter((kind) => kinds.has(kind)).map((kind) => <span key={kind}><svg width="18" height="12" aria-hidden="true"><rect x="1" y="1" width="16" height="10" rx={kind === "company" ? 2 : 5} fill={kindColors(kind)[0]} stroke={kindColors(kind)[1]} /></svg>{pick(meta.kinds[kind])}</span>)}
      {LEGEND.slice(0, lines).map(([tone, key, dash]) => <span key={key}><svg width="26" height="8" aria-hidden="true"><line x1="0" x2="26" y1="4" y2="4" class={tone} stroke-dasharray={dash || undefined} /></svg>{t(key)}</span>)}
      <span title={t("hint_keys")}>{t("hint")}</span>
    </p>
  );
}

/** What to do where nothing is shown: similar names, passages, the days covered. */
function Empty({ name, route }: { name: string; route: Route }) {
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

function header(entity: Entity | undefined, id: string, asOf: number): [string, string] {
  if (!entity) return [id.split(":").at(-1) ?? id, ""];
  return [nameAt(entity, asOf), [pick(meta.kinds[entity.kind]), entity.code, entity.aliases].filter(Boolean).join(" · ")];
}

function leftText(plan: Plan): string {
  const shown = plan.columns.reduce((sum, column) => sum + column.sections.reduce((each, section) => each + section.items.length, 0), 0);
  const left = plan.left + plan.columns.reduce((sum, column) => sum + column.sections.reduce((each, section) => each + section.more, 0), 0);
  return left ? t("too_many", { n: shown, m: left }) : "";
}

const COMPANY_TABS: [string, Key][] = [["", "picture"], ["table", "table"], ["figures", "figures"], ["events", "timeline"], ["themes", "themes"]];

export function CompanyView({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const filters = filtersOf(route);
  const loading = useLoading(() => ensure([id, ...route.expanded]), `company:${id}:${route.expanded.length}`);
  const entity = entityOf(id);
  const links = entity ? linksOf(records, id, filters) : [];
  const [title, subtitle] = header(entity, id, filters.asOf);
  const plan = entity ? profilePlan(records, entity, filters, new Set(route.open), route.expanded) : null;
  let body: ComponentChild = null;
  if (!entity || !plan) body = <Empty name={title} route={route} />;
  else if (route.tab === "table") body = <LinkTable entity={entity} links={links} filters={filters} />;
  else if (route.tab === "figures") body = <Figures entity={entity} filters={filters} />;
  else if (route.tab === "events") body = <Events entity={entity} filters={filters} />;
  else if (route.tab === "themes") body = <ThemesOf entity={entity} route={route} filters={filters} />;
  else body = links.length ? <><Legend all={plan ? kindsOf(plan) : []}><WeakSwitch plan={plan} filters={filters} count={linksOf(records, id, { ...filters, weak: true }).length - links.length} /></Legend><Drawn plan={plan} route={route} filters={filters} title={title} /></> : <Empty name={title} route={route} />;
  return <Frame route={route} title={title} subtitle={subtitle} loading={loading} links={plan?.links.length ? plan.links : links} tabs={COMPANY_TABS.filter(([tab]) => !meta.alone || tab !== "themes")} notice={plan && !route.tab ? leftText(plan) : ""}>{body}</Frame>;
}

function evidenceButton(link: Link, text: string): ComponentChild {
  return <button type="button" class="link" onClick={() => change({ pick: `l:${link.key}` }, true)}>{text}</button>;
}

function stateText(link: Link): string {
  return link.ended ? t("is_ended") : link.isNew ? t("is_new") : "";
}

export function LinkTable({ entity, links, filters }: { entity: Entity; links: Link[]; filters: ViewFilter }) {
  const quality = (link: Link, name: string) => link.seen.map((seen) => seen.fact.qualifiers[name]).find(Boolean) ?? "";
  const shares = (link: Link) => quality(link, "revenue_share") || quality(link, "cost_share") || valueText(link.seen[0]!.fact.value);
  const columns = [
    { id: "group", title: t("group"), value: (link: Link) => t(placeOf(link, entity.id)[1]) },
    { id: "wording", title: t("relation"), value: (link: Link) => [relationText(link.seen[0]!.fact, entity.id), modalityText(link.seen[0]!.fact)].filter(Boolean).join(" · ") },
    { id: "name", title: t("object"), value: (link: Link) => nameAt(other(link, entity.id), filters.asOf), show: (link: Link) => <a href={hrefTo(viewFor(other(link, entity.id).kind), other(link, entity.id).id)}>{nameAt(other(link, entity.id), filters.asOf)}</a> },
    { id: "code", title: t("code"), value: (link: Link) => other(link, entity.id).code },
    { id: "product", title: t("product"), value: (link: Link) => quality(link, "product") },
    { id: "share", title: t("share"), value: shares },
    { id: "rank", title: t("rank"), value: (link: Link) => quality(link, "rank") },
    { id: "first", title: t("since_first"), value: (link: Link) => iso(link.first) },
    { id: "last", title: t("last_seen"), value: (link: Link) => iso(link.last) },
    { id: "sure", title: t("certainty"), value: (link: Link) => Math.round(link.certainty * 100) },
    { id: "sources", title: t("sources"), value: (link: Link) => link.sources },
    ...(filters.since === null ? [] : [{ id: "state", title: t("compare"), value: (link: Link) => stateText(link) }]),
    { id: "source", title: t("source"), value: (link: Link) => link.seen[0]!.evidence.at(-1)!.doc.title, show: (link: Link) => evidenceButton(link, link.seen[0]!.evidence.at(-1)!.doc.title) },
  ];
  return <DataTable name={`${entity.name} ${t("profile")}`} rows={links} columns={columns} />;
}

function Events({ entity, filters }: { entity: Entity; filters: ViewFilter }) {
  const events = records.seen(entity.id, filters.asOf).filter(({ fact, confidence }) => fact.relation.timeline && confidence >= (filters.certainty ?? fact.relation.cut));
  events.sort((one, two) => two.first - one.first || (one.fact.id < two.fact.id ? -1 : 1));
  if (!events.length) return <p class="faint">{t("no_events", { day: iso(filters.asOf) })}</p>;
  return (
    <ol class="timeline">
      {events.slice(0, 200).map((seen) => (
        <li key={seen.fact.id}><time>{iso(seen.first)}</time> <button type="button" class="link" onClick={() => change({ pick: `f:${seen.fact.id}` }, true)}>{claimText(seen.fact, filters.asOf)}</button></li>
      ))}
    </ol>
  );
}

function ThemesOf({ entity, route, filters }: { entity: Entity; route: Route; filters: ViewFilter }) {
  const day = runDay(filters.asOf);
  useLoading(() => loadRun(day), `run:${day}`);
  const run = runOf(day);
  const place = run?.members.id.indexOf(entity.id) ?? -1;
  const found = run?.themes.filter((theme) => theme.members.includes(place)) ?? [];
  if (!found.length) return <p class="faint">{t("not_in_themes")}</p>;
  return <ul class="themes">{found.map((theme) => <li key={theme.id}><a href={hrefTo("theme", theme.id)}>{theme.title}</a> <span class="faint">{t("members", { n: theme.members.length })}</span> {theme.lines[0] ? <p>{theme.lines[0][0]} <Cite facts={theme.lines[0][1]} route={route} /></p> : null}</li>)}</ul>;
}

interface AnswerProps {
  route: Route;
  title: string;
  subtitle: string;
  tabs: [string, Key][];
  tools?: ComponentChild;
  none: ComponentChild;
  table: (plan: Plan, pictures: WirePicture[], filters: ViewFilter) => ComponentChild;
}

/** A view that draws the answer to a question, or lists it. */
function AnswerView({ route, title, subtitle, tabs, tools, none, table }: AnswerProps) {
  const filters = filtersOf(route);
  const loading = useLoading(() => loadPictures(route), pictureKey(route));
  const pictures = picturesOf(route);
  const ready = pictures !== undefined && (loading.state === "ready" || pictures.every((each) => each.ids.every(isLoaded)));
  const plan = ready ? answerPlan(records, pictures, filters, new Set(route.open), route.expanded) : null;
  const notes = [plan && !route.tab ? leftText(plan) : "", meta.mode === "packed" && plan && filtersOrDays(route) ? t("packed_answer") : ""];
  const body = !plan ? null : !plan.links.length ? <>{tools ? <p class="buttons">{tools}</p> : null}{none}</> : route.tab === "table" ? table(plan, pictures!, filters) : (
    <>
      <Legend all={plan ? kindsOf(plan) : []}>{tools}<WeakSwitch plan={plan} filters={filters} /></Legend>
      <Drawn plan={plan} route={route} filters={filters} title={title} />
    </>
  );
  const shown: Loading = plan && loading.state === "loading" ? { ...loading, state: "ready" } : loading;
  return <Frame route={route} title={title} subtitle={subtitle} loading={shown} links={plan?.links ?? []} tabs={tabs} notice={notes.filter(Boolean).join(" · ")}>{body}</Frame>;
}

function filtersOrDays(route: Route): boolean {
  return asOfText(route) !== "" || route.since !== "" || route.certainty !== null;
}

/** Say how many links are too unsure to be drawn, and draw them on demand. */
function WeakSwitch({ plan, filters, count = countWeak(records, plan, filters) }: { plan: Plan; filters: ViewFilter; count?: number }) {
  if (filters.weak) return <button type="button" aria-pressed="true" onClick={() => change({ weak: 0 })}>{t("weak_hide")}</button>;
  return count ? <button type="button" aria-pressed="false" onClick={() => change({ weak: 1 })}>{t("weak_show", { n: count })}</button> : null;
}

export function ChainView({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const asOf = filtersOf(route).asOf;
  const [title, subtitle] = header(entityOf(id), id, asOf);
  return (
    <AnswerView
      route={route} title={title} subtitle={subtitle} tabs={PICTURE_TABS} none={<None name={title} route={route} />}
      table={(plan, _, filters) => <ChainTable plan={plan} filters={filters} name={title} />}
    />
  );
}

const PICTURE_TABS: [string, Key][] = [["", "picture"], ["table", "table"]];

/** What is known of a name for which there is no such answer. */
function None({ name, route }: { name: string; route: Route }) {
  const entity = entityOf(route.ids[0] ?? "");
  const filters = filtersOf(route);
  const links = entity ? linksOf(records, entity.id, filters) : [];
  if (!entity || !links.length) return <Empty name={name} route={route} />;
  return (
    <>
      <p class="faint">{t(meta.mode === "packed" ? "not_packed" : "no_answer")}</p>
      <Drawn plan={profilePlan(records, entity, filters, new Set(route.open), route.expanded)} route={route} filters={filters} title={name} />
    </>
  );
}

interface ChainRow {
  stage: string;
  product: Entity;
  company: Entity | null;
  link: Link | null;
  figure: VisibleFact | null;
}

const MAIN_FIGURES = ["营业收入", "营收", "归母净利润", "净利润", "出货量", "销量", "产能", "市占率"];

function mainFigure(entity: Entity, filters: ViewFilter): VisibleFact | null {
  const figures = figuresOf(entity, filters).filter(({ fact }) => fact.modality === "asserted" && fact.subject === entity);
  const rank = (seen: VisibleFact) => { const place = MAIN_FIGURES.findIndex((name) => seen.fact.object.name.endsWith(name)); return place < 0 ? 99 : place; };
  figures.sort((one, two) => Math.floor(rank(one) / 99) - Math.floor(rank(two) / 99) || two.last - one.last || rank(one) - rank(two));
  return figures[0] ?? null;
}

function ChainTable({ plan, filters, name }: { plan: Plan; filters: ViewFilter; name: string }) {
  const ends = new Map(plan.links.map((link) => [`${link.subject.id} ${link.object.id}`, link]));
  const rows = plan.columns.flatMap((column) => column.sections.flatMap((section): ChainRow[] => {
    const [stage, ...companies] = section.items.map(({ entity }) => entity);
    if (!stage) return [];
    if (!companies.length) return [{ stage: column.caption, product: stage, company: null, link: null, figure: null }];
    return companies.map((company) => ({ stage: column.caption, product: stage, company, link: ends.get(`${company.id} ${stage.id}`) ?? null, figure: mainFigure(company, filters) }));
  }));
  const columns = [
    { id: "stage", title: t("stage"), value: (row: ChainRow) => row.stage },
    { id: "product", title: t("product"), value: (row: ChainRow) => nameAt(row.product, filters.asOf), show: (row: ChainRow) => <a href={hrefTo("chain", row.product.id)}>{nameAt(row.product, filters.asOf)}</a> },
    { id: "company", title: t("company"), value: (row: ChainRow) => (row.company ? nameAt(row.company, filters.asOf) : ""), show: (row: ChainRow) => row.company ? <a href={hrefTo("company", row.company.id)}>{nameAt(row.company, filters.asOf)}</a> : null },
    { id: "code", title: t("code"), value: (row: ChainRow) => row.company?.code ?? "" },
    { id: "share", title: t("share"), value: (row: ChainRow) => (row.link ? notesOf(row.link.seen[0]!.fact).join(" · ") : "") },
    { id: "figure", title: t("latest_figure"), value: (row: ChainRow) => figureText(row.figure, filters.asOf), show: (row: ChainRow) => row.figure ? <button type="button" class="link" onClick={() => change({ pick: `f:${row.figure!.fact.id}` }, true)}>{figureText(row.figure, filters.asOf)}</button> : null },
    ...(filters.since === null ? [] : [{ id: "state", title: t("compare"), value: (row: ChainRow) => (row.link ? stateText(row.link) : "") }]),
    { id: "day", title: t("last_seen"), value: (row: ChainRow) => (row.link ? iso(row.link.last) : "") },
    { id: "sources", title: t("sources"), value: (row: ChainRow) => row.link?.sources ?? "" },
    { id: "source", title: t("source"), value: (row: ChainRow) => row.link?.seen[0]!.evidence.at(-1)!.doc.title ?? "", show: (row: ChainRow) => row.link ? evidenceButton(row.link, row.link.seen[0]!.evidence.at(-1)!.doc.title) : null },
  ];
  return <DataTable name={`${name} ${t("chain")}`} rows={rows} columns={columns} />;
}

function figureText(seen: VisibleFact | null, asOf: number): string {
  if (!seen) return "";
  const owner = nameAt(seen.fact.subject, asOf);
  const object = nameAt(seen.fact.object, asOf);
  const name = object.startsWith(owner) && object.length > owner.length ? object.slice(owner.length) : object;
  return [name, valueText(seen.fact.value), seen.fact.valid?.text ?? ""].filter(Boolean).join(" ");
}

export function FactorView({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const [title, subtitle] = header(entityOf(id), id, filtersOf(route).asOf);
  // a file holds both directions of the answer that it was drawn for
  const both = meta.mode === "served" || read(meta.start).ids.join() === id;
  const tools = !both ? null : (["if_up", "if_down"] as const).map((key, down) => (
    <button key={key} type="button" aria-pressed={route.down === down} onClick={() => change({ down })}>{t(key)}</button>
  ));
  return (
    <AnswerView
      route={route} title={title} subtitle={subtitle} tabs={PICTURE_TABS} tools={tools} none={<None name={title} route={route} />}
      table={(_, pictures, filters) => <PathTable pictures={pictures} filters={filters} name={title} direction={route.down ? -1 : 1} />}
    />
  );
}

function PathTable({ pictures, filters, name, direction = 1 }: { pictures: WirePicture[]; filters: ViewFilter; name: string; direction?: number }) {
  const rows = pictures.slice(0, 1).flatMap((picture) => outcomesOf(records, picture, filters, direction));
  const text = ({ links }: ShownPath) => links.map((link) => claimText(link.seen[0]!.fact, filters.asOf)).join("；");
  const sides: Record<number, Key> = { [-1]: "causes", 1: "effects", 2: "gains", 3: "losses" };
  const basis = ({ basis: key }: ShownPath) => t(key === "mirrored" ? "basis_mirrored" : key === "inferred" ? "basis_inferred" : "basis_told");
  const columns = [
    { id: "side", title: t("direction"), value: ({ side }: ShownPath) => t(sides[side]!) },
    { id: "end", title: t("object"), value: ({ end }: ShownPath) => nameAt(end, filters.asOf), show: ({ end }: ShownPath) => <a href={hrefTo(viewFor(end.kind), end.id)}>{nameAt(end, filters.asOf)}</a> },
    { id: "code", title: t("code"), value: ({ end }: ShownPath) => end.code },
    { id: "sign", title: "±", value: ({ sign }: ShownPath) => (sign > 0 ? "+" : "−"), show: ({ sign }: ShownPath) => <b class={sign > 0 ? "plus" : "minus"}>{sign > 0 ? "+" : "−"}</b> },
    { id: "path", title: t("path"), value: text },
    { id: "basis", title: t("basis"), value: basis },
    { id: "lag", title: t("lag"), value: ({ links }: ShownPath) => links.map((link) => link.seen[0]!.fact.qualifiers.lag ?? "").filter(Boolean).join("；") },
    { id: "weak", title: t("weakest"), value: ({ weakest }: ShownPath) => Math.round(weakest.certainty * 100), show: ({ weakest }: ShownPath) => evidenceButton(weakest, `${Math.round(weakest.certainty * 100)}% · ${t("sources")} ${weakest.sources}`) },
    { id: "against", title: t("against"), value: ({ links }: ShownPath) => (links.some((link) => link.contested) ? t("contested") : "") },
    { id: "day", title: t("last_seen"), value: ({ links }: ShownPath) => iso(Math.max(...links.map((link) => link.last))) },
  ];
  return <DataTable name={`${name} ${t("factor")}`} rows={rows} columns={columns} />;
}

export function PathView({ route }: { route: Route }) {
  const asOf = filtersOf(route).asOf;
  const title = route.ids.map((id) => header(entityOf(id), id, asOf)[0]).join(" ↔ ");
  return (
    <AnswerView
      route={route} title={title} subtitle={t("path")} tabs={PICTURE_TABS}
      none={<p>{t(meta.mode === "packed" ? "path_not_packed" : "no_path")}</p>}
      table={(_, pictures, filters) => <PathTable pictures={pictures} filters={filters} name={title} />}
    />
  );
}

const MOST_NODES = 600;

export function NetworkPage({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const seeds = id ? [id, ...route.expanded] : meta.topics.map(([topic]) => topic);
  const depth = route.depth || 1;
  const most = Math.min(5000, route.most || MOST_NODES);
  const filters = filtersOf(route);
  const on = `network:${seeds.join()}:${depth}:${most}`;
  const loading = useLoading(() => loadNetwork(seeds, depth, most), on);
  const entity = entityOf(id);
  const [title, subtitle] = id ? header(entity, id, filters.asOf) : [t("network"), ""];
  const version = `${on}:${loading.state}:${JSON.stringify({ ...route, pick: "", tab: "" })}:${isDark()}`;
  const network = useMemo(() => (loading.state === "ready" ? networkOf(seeds, depth, most, filters) : { nodes: [], links: [], left: 0 }), [version]);
  const count = t("nodes_links", { n: network.nodes.length, m: network.links.length });
  const notice = network.left ? `${count} · ${t("too_many", { n: network.nodes.length, m: network.left })}` : count;
  return (
    <Frame route={route} title={title} subtitle={subtitle} loading={loading} links={network.links} tabs={[]} notice={notice}>
      <p class="buttons">
        {[1, 2, 3].map((step) => <button key={step} type="button" aria-pressed={step === depth} onClick={() => change({ depth: step })}>{t("depth", { n: step })}</button>)}
        {[300, MOST_NODES, 2000, 5000].map((count_) => <button key={count_} type="button" aria-pressed={count_ === most} onClick={() => change({ most: count_ })}>≤ {count_}</button>)}
      </p>
      <Legend all={network.nodes.map((node) => entityOf(node)?.kind ?? "")} lines={3} />
      {network.links.length ? <NetworkView network={network} seeds={seeds} filters={filters} version={version} onPick={(what) => change({ pick: what }, true)} onAct={(action, node) => act(route, action, node)} /> : <Empty name={title} route={route} />}
    </Frame>
  );
}

export function ThemePage({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const filters = filtersOf(route);
  const day = runDay(filters.asOf);
  const run = runOf(day);
  const theme = run?.themes.find((each) => each.id === id);
  const members = theme?.members.map((place) => run!.members.id[place]!) ?? [];
  const loading = useLoading(async () => {
    await Promise.all([loadRun(day), loadLives()]);
    const found = runOf(day)?.themes.find((each) => each.id === id);
    await ensure((found?.members.map((place) => runOf(day)!.members.id[place]!) ?? []).slice(0, 160));
  }, `theme:${id}:${day}`);
  const life = livesNow()?.themes[id];
  const events = life?.events.filter(([when]) => when <= filters.asOf) ?? [];
  const entities = members.map((member) => entityOf(member)).filter((each): each is Entity => each !== undefined);
  const plan = loading.state === "ready" && theme ? membersPlan(records, entities, filters, new Set(route.open), route.expanded) : null;
  const body = !theme ? <p>{t("no_theme")}</p> : (
    <div class="theme">
      <section>
        <h2>{t("summary")}</h2>
        <ul>{theme.lines.map(([text, facts]) => <li key={text}>{text} <Cite facts={facts} route={route} /></li>)}</ul>
        {theme.news.length ? <h2>{t("whats_new")}</h2> : null}
        <ul>{theme.news.map(([text, facts]) => <li key={text}>{text} <Cite facts={facts} route={route} /></li>)}</ul>
        <h2>{t("biography")}</h2>
        <ol class="timeline">{events.map(([when, ...event]) => <li key={when + event[0]}><time>{iso(when)}</time> {chapterText(event, filters.asOf)} <Cite facts={event[8]} route={route} /></li>)}</ol>
      </section>
      {plan ? <div class="drawn"><Legend all={plan ? kindsOf(plan) : []}><WeakSwitch plan={plan} filters={filters} /></Legend><Drawn plan={plan} route={route} filters={filters} title={theme.title} /></div> : null}
    </div>
  );
  return <Frame route={route} title={theme?.title ?? t("theme")} subtitle={t("members", { n: members.length })} loading={loading} links={plan?.links ?? []} tabs={[]} notice={plan ? leftText(plan) : ""}>{body}</Frame>;
}
