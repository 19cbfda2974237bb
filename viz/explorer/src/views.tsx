/** One view for each question about an entity; all of them draw a plan, list it as a table, and share the tools. */

import type { ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import type { Loading } from "./app";
import { asOfText, ensure, entityOf, filtersOf, isLoaded, loadPictures, meta, pictureKey, picturesOf, records, useLoading } from "./app";
import { claimText, modalityText, notesOf, relationText, sharesOf, stageText, valueText } from "./claims";
import type { Entity, VisibleFact, WirePicture } from "./data";
import { iso, nameAt } from "./data";
import { Figures, figuresOf } from "./figures";
import { Drawn, Empty, Frame, Legend, act, evidenceButton, header, kindsOf, leftText } from "./frame";
import type { Link, ViewFilter } from "./links";
import { linksOf, other } from "./links";
import { NetworkView, loadNetwork, networkOf } from "./network";
import { isDark } from "./palette";
import type { Plan, ShownPath } from "./plans";
import { answerPlan, countWeak, idsOf, outcomesOf, placeOf, profilePlan } from "./plans";
import type { Route } from "./state";
import { change, hrefTo, read, viewFor } from "./state";
import { DataTable } from "./table";
import { ThemesOf } from "./themes";
import type { Key } from "./words";
import { t } from "./words";

const COMPANY_TABS: [string, Key][] = [["", "picture"], ["table", "table"], ["figures", "figures"], ["events", "timeline"], ["themes", "themes"]];

export function CompanyView({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const filters = filtersOf(route);
  const loading = useLoading(() => ensure([id, ...route.expanded]), `company:${id}:${route.expanded.length}`);
  // what is loaded already is drawn at once, so that the focus in the picture is not lost
  const ready: Loading = [id, ...route.expanded].every(isLoaded) ? { ...loading, state: "ready" } : loading;
  const entity = entityOf(id);
  const links = entity ? linksOf(records, id, filters) : [];
  const [title, subtitle] = header(entity, id, filters.asOf);
  const plan = entity ? profilePlan(records, entity, filters, new Set(route.open), route.expanded) : null;
  const unsure = { ...filters, weak: true };
  const weak = !entity || filters.weak ? 0 : route.tab === "events" ? eventsOf(entity, unsure).length - eventsOf(entity, filters).length : linksOf(records, id, unsure).length - links.length;
  let body: ComponentChild = null;
  if (!entity || !plan) body = <Empty name={title} route={route} />;
  else if (route.tab === "table") body = <LinkTable entity={entity} links={links} filters={filters} />;
  else if (route.tab === "figures") body = <Figures entity={entity} filters={filters} />;
  else if (route.tab === "events") body = <Events entity={entity} filters={filters} />;
  else if (route.tab === "themes") body = <ThemesOf entity={entity} filters={filters} />;
  else body = links.length ? <><Legend all={kindsOf(plan)} links={plan.links} /><Drawn plan={plan} route={route} filters={filters} title={title} /></> : <Empty name={title} route={route} />;
  return <Frame route={route} title={title} subtitle={subtitle} loading={ready} links={plan?.links.length ? plan.links : links} tabs={COMPANY_TABS.filter(([tab]) => !meta.alone || tab !== "themes")} notice={plan && !route.tab ? leftText(plan) : ""} weak={weak}>{body}</Frame>;
}

function stateText(link: Link): string {
  return link.ended ? t("is_ended") : link.isNew ? t("is_new") : "";
}

export function LinkTable({ entity, links, filters }: { entity: Entity; links: Link[]; filters: ViewFilter }) {
  const quality = (link: Link, name: string) => link.seen.map((seen) => seen.fact.qualifiers[name]).find(Boolean) ?? "";
  const shares = (link: Link) => sharesOf(link, entity.id).join(" · ") || valueText(link.seen[0]!.fact.value);
  const columns = [
    { id: "group", title: t("group"), value: (link: Link) => t(placeOf(link, entity.id)[1]) },
    { id: "wording", title: t("relation"), value: (link: Link) => [relationText(link.seen[0]!.fact, entity.id), modalityText(link.seen[0]!.fact)].filter(Boolean).join(" · ") },
    { id: "name", title: t("object"), value: (link: Link) => nameAt(other(link, entity.id), filters.asOf), show: (link: Link) => <a href={hrefTo(viewFor(other(link, entity.id).kind), other(link, entity.id).id)}>{nameAt(other(link, entity.id), filters.asOf)}</a> },
    { id: "code", title: t("code"), value: (link: Link) => other(link, entity.id).code },
    { id: "product", title: t("product"), value: (link: Link) => quality(link, "product") },
    { id: "share", title: t("share"), value: shares },
    { id: "delivery", title: t("delivery"), value: (link: Link) => stageText(quality(link, "stage")) },
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

function eventsOf(entity: Entity, filters: ViewFilter): VisibleFact[] {
  const least = ({ relation }: VisibleFact["fact"]) => filters.certainty ?? (filters.weak ? relation.weak : relation.cut);
  return records.seen(entity.id, filters.asOf).filter(({ fact, confidence }) => fact.relation.timeline && confidence >= least(fact));
}

function Events({ entity, filters }: { entity: Entity; filters: ViewFilter }) {
  const events = eventsOf(entity, filters);
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

interface AnswerProps {
  route: Route;
  title: string;
  subtitle: string;
  tabs: [string, Key][];
  tools?: ComponentChild;
  /** the question in words, for a saved picture */
  asked?: string;
  none: ComponentChild;
  table: (plan: Plan, pictures: WirePicture[], filters: ViewFilter) => ComponentChild;
}

/** A view that draws the answer to a question, or lists it. */
function AnswerView({ route, title, subtitle, tabs, tools, asked, none, table }: AnswerProps) {
  const filters = filtersOf(route);
  const loading = useLoading(() => loadPictures(route), pictureKey(route));
  const pictures = picturesOf(route);
  const ready = pictures !== undefined && (loading.state === "ready" || pictures.every((each) => each.ids.every(isLoaded)));
  const plan = ready ? answerPlan(records, pictures, filters, new Set(route.open), route.expanded) : null;
  const notes = [plan && !route.tab ? leftText(plan) : "", meta.mode === "packed" && plan && filtersOrDays(route) ? t("packed_answer") : ""];
  const body = !plan ? null : !plan.links.length ? <>{tools ? <p class="buttons">{tools}</p> : null}{none}</> : route.tab === "table" ? table(plan, pictures!, filters) : (
    <>
      <Legend all={kindsOf(plan)} links={plan.links}>{tools}</Legend>
      <Drawn plan={plan} route={route} filters={filters} title={title} />
    </>
  );
  const shown: Loading = plan && loading.state === "loading" ? { ...loading, state: "ready" } : loading;
  return <Frame route={route} title={title} subtitle={subtitle} loading={shown} links={plan?.links ?? []} tabs={tabs} notice={notes.filter(Boolean).join(" · ")} asked={asked} weak={plan && !filters.weak ? countWeak(records, idsOf(plan), plan.links, filters) : 0}>{body}</Frame>;
}

function filtersOrDays(route: Route): boolean {
  return asOfText(route) !== "" || route.since !== "" || route.certainty !== null;
}

/** steps each way that a chain shows unless asked otherwise, as in viz/exhibit/pictures.py */
const DEPTH = 2;

export function ChainView({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const [title, subtitle] = header(entityOf(id), id, filtersOf(route).asOf);
  const steps = route.depth || DEPTH;
  const tools = meta.mode === "packed" ? null : [1, 2, 3, 4].map((depth) => (
    <button key={depth} type="button" aria-pressed={steps === depth} onClick={() => change({ depth: depth === DEPTH ? 0 : depth })}>{t("steps", { n: depth })}</button>
  ));
  return (
    <AnswerView
      route={route} title={title} subtitle={subtitle} tabs={PICTURE_TABS} tools={tools} asked={t("chain")} none={<None name={title} route={route} />}
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
      route={route} title={title} subtitle={subtitle} tabs={PICTURE_TABS} tools={tools} asked={t(route.down ? "if_down" : "if_up")} none={<None name={title} route={route} />}
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
  const unsure = loading.state === "ready" && !filters.weak;
  const version = `${on}:${loading.state}:${JSON.stringify({ ...route, pick: "", tab: "" })}:${isDark()}`;
  const network = useMemo(() => (loading.state === "ready" ? networkOf(seeds, depth, most, filters) : { nodes: [], links: [], left: 0 }), [version]);
  const weak = useMemo(() => (unsure ? countWeak(records, new Set(network.nodes), network.links, filters) : 0), [network]);
  const count = t("nodes_links", { n: network.nodes.length, m: network.links.length });
  const notice = network.left ? `${count} · ${t("too_many", { n: network.nodes.length, m: network.left })}` : count;
  return (
    <Frame route={route} title={title} subtitle={subtitle} loading={loading} links={network.links} tabs={[]} notice={notice} weak={weak}>
      <p class="buttons">
        {[1, 2, 3].map((step) => <button key={step} type="button" aria-pressed={step === depth} onClick={() => change({ depth: step })}>{t("depth", { n: step })}</button>)}
        {[300, MOST_NODES, 2000, 5000].map((count_) => <button key={count_} type="button" aria-pressed={count_ === most} onClick={() => change({ most: count_ })}>≤ {count_}</button>)}
      </p>
      <Legend all={network.nodes.map((node) => entityOf(node)?.kind ?? "")} links={network.links} plain />
      {network.links.length ? <NetworkView network={network} seeds={seeds} filters={filters} version={version} onPick={(what) => change({ pick: what }, true)} onAct={(action, node) => act(route, action, node)} /> : <Empty name={title} route={route} />}
    </Frame>
  );
}
