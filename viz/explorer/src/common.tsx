/** What two names share, and what is contested in the whole base: links of several names in one picture and one table. */

import { ensure, entityOf, filtersOf, loadContested, loadPictures, loadRun, pictureKey, picturesOf, records, runDay, runOf, source, useLoading } from "./app";
import { claimText } from "./claims";
import type { Entity } from "./data";
import { iso, nameAt } from "./data";
import { Drawn, Frame, Legend, evidenceButton, kindsOf, leftText } from "./frame";
import type { Link, ViewFilter } from "./links";
import { linksIn, linksOf, rivals } from "./links";
import type { Side } from "./plans";
import { commonPlan, countWeak, idsOf, linksAmong, membersPlan } from "./plans";
import type { Route } from "./state";
import { HOME, hrefTo, viewFor } from "./state";
import { DataTable } from "./table";
import type { Key } from "./words";
import { pick, t } from "./words";
import { meta } from "./app";

const TABS: [string, Key][] = [["", "picture"], ["table", "table"]];

function chainOf(route: Route, id: string): Route {
  return { ...HOME, view: "chain", ids: [id], day: route.day };
}

function isChain(id: string): boolean {
  return ["product", "industry", "theme", "business"].includes(id.split(":")[0]!);
}

/** Load what one of the two names has: the members of a theme, a chain, or the links of anything else. */
async function loadSide(route: Route, id: string): Promise<void> {
  const day = runDay(filtersOf(route).asOf);
  await loadRun(day);
  const run = runOf(day);
  const theme = run?.themes.find((each) => each.id === id);
  if (theme && day !== null) {
    records.addEntities({ id: [id], name: [theme.title], kind: ["theme"], code: [""], aliases: [""], about: {}, renamed: {} });
    return source.members(day, theme, theme.members.map((place) => run!.members.id[place]!), records);
  }
  if (isChain(id)) return loadPictures(chainOf(route, id));
  return ensure([id]);
}

function sideOf(route: Route, id: string, filters: ViewFilter): Side {
  const run = runOf(runDay(filters.asOf));
  const theme = run?.themes.find((each) => each.id === id);
  if (theme) {
    const members = theme.members.map((place) => run!.members.id[place]!);
    return { ids: members, links: linksAmong(records, members, filters), nested: true };
  }
  const [picture] = isChain(id) ? (picturesOf(chainOf(route, id)) ?? []) : [];
  if (picture) return { ids: picture.ids, links: linksIn(records, picture, filters), nested: true };
  const links = linksOf(records, id, filters);
  return { ids: links.flatMap((link) => [link.subject.id, link.object.id]), links, nested: false };
}

/** The companies of two themes or chains, the common chain of two companies: what both are linked with, between them. */
export function CommonView({ route }: { route: Route }) {
  const filters = filtersOf(route);
  const loading = useLoading(() => Promise.all(route.ids.map((id) => loadSide(route, id))), `common:${route.ids.map((id) => pictureKey(chainOf(route, id))).join()}`);
  const names = route.ids.map((id) => entityOf(id)).filter((each): each is Entity => !!each);
  const title = names.map((each) => nameAt(each, filters.asOf)).join(t("and"));
  const sides = loading.state === "ready" ? route.ids.map((id) => sideOf(route, id, filters)) : [];
  const plan = names.length === 2 && sides.length === 2 ? commonPlan(records, names, sides, filters, new Set(route.open)) : null;
  const common = plan?.columns.find(({ index }) => index === 0)?.sections.flatMap(({ items }) => items.map(({ entity }) => entity)) ?? [];
  const between = (entity: Entity, row: number) => sides[row]!.links.filter((link) => link.subject === entity || link.object === entity).slice(0, 3);
  const columns = [
    { id: "kind", title: t("kinds"), value: (each: Entity) => pick(meta.kinds[each.kind]) },
    { id: "name", title: t("object"), value: (each: Entity) => nameAt(each, filters.asOf), show: (each: Entity) => <a href={hrefTo(viewFor(each.kind), each.id)}>{nameAt(each, filters.asOf)}</a> },
    { id: "code", title: t("code"), value: (each: Entity) => each.code },
    ...names.map((name, row) => ({ id: `side${row}`, title: nameAt(name, filters.asOf), value: (each: Entity) => between(each, row).map((link) => claimText(link.seen[0]!.fact, filters.asOf)).join("；"), show: (each: Entity) => <>{between(each, row).map((link) => evidenceButton(link, claimText(link.seen[0]!.fact, filters.asOf)))}</> })),
  ];
  const body = !plan ? null : !common.length ? <p class="empty">{t("none_common")}</p> : route.tab === "table" ? <DataTable name={title} rows={common} columns={columns} /> : (
    <><Legend all={kindsOf(plan)} links={plan.links} /><Drawn plan={plan} route={route} filters={filters} title={title} /></>
  );
  return <Frame route={route} title={title} subtitle={t("common")} loading={loading} links={plan?.links ?? []} tabs={TABS} notice={plan && !route.tab ? leftText(plan) : ""} weak={plan && !filters.weak ? countWeak(records, idsOf(plan), plan.links, filters) : 0}>{body}</Frame>;
}

/** Return all links of the base that another statement contradicts as of the day. */
export function contestedLinks(filters: ViewFilter): Link[] {
  const subjects = new Set([...records.facts.values()].filter((fact) => fact.rivals.length).map((fact) => fact.subject.id));
  const found = [...subjects].flatMap((id) => linksOf(records, id, { ...filters, disputed: true }).filter((link) => link.contested && link.subject.id === id));
  return found.sort((one, two) => two.strength - one.strength || (one.key < two.key ? -1 : 1));
}

export function ContestedView({ route }: { route: Route }) {
  const filters = { ...filtersOf(route), disputed: true };
  const loading = useLoading(loadContested, "contested");
  const links = loading.state === "ready" ? contestedLinks(filters) : [];
  const ends = [...new Map(links.flatMap(({ subject, object }) => [subject, object]).map((each) => [each.id, each])).values()];
  const plan = membersPlan(records, ends, filters, new Set(route.open), route.expanded, { links });
  const against = (link: Link) => [...new Map(link.seen.flatMap((seen) => rivals(records, seen, filters.asOf)).map((seen) => [seen.fact.id, seen])).values()];
  const houses = (link: Link) => [...new Set(link.seen.flatMap((seen) => seen.evidence.map((item) => item.speaker || item.doc.publisher)))].join("、");
  const columns = [
    { id: "claim", title: t("claim"), value: (link: Link) => claimText(link.seen[0]!.fact, filters.asOf), show: (link: Link) => evidenceButton(link, claimText(link.seen[0]!.fact, filters.asOf)) },
    { id: "speaker", title: t("speaker"), value: houses },
    { id: "last", title: t("last_seen"), value: (link: Link) => iso(link.last) },
    { id: "sure", title: t("certainty"), value: (link: Link) => Math.round(link.certainty * 100) },
    { id: "sources", title: t("sources"), value: (link: Link) => link.sources },
    { id: "against", title: t("against"), value: (link: Link) => against(link).map((seen) => `${claimText(seen.fact, filters.asOf)}（${iso(seen.last)}）`).join("；") },
  ];
  const weak = filters.weak ? 0 : contestedLinks({ ...filters, weak: true }).length - links.length;
  const body = !links.length ? <p class="empty">{t("none_contested")}</p> : route.tab === "table" ? <DataTable name={t("contested_all")} rows={links} columns={columns} /> : (
    <><Legend all={kindsOf(plan)} links={plan.links} /><Drawn plan={plan} route={route} filters={filters} title={t("contested_all")} /></>
  );
  return <Frame route={route} title={t("contested_all")} subtitle={t("links_n", { n: links.length })} loading={loading} links={links} tabs={TABS} notice={route.tab ? "" : leftText(plan)} weak={weak}>{body}</Frame>;
}
