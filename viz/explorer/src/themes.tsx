/** Themes of the weekly runs: their cards, their pages, and those of an entity. */

import { useState } from "preact/hooks";
import { entityOf, filtersOf, livesNow, loadLives, loadRun, meta, records, runDay, runOf, source, useLoading } from "./app";
import { claimText } from "./claims";
import type { Entity, Fact } from "./data";
import { at, iso } from "./data";
import { Drawn, Frame, Legend, evidenceButton, kindsOf, leftText } from "./frame";
import type { Link, ViewFilter } from "./links";
import { countWeak, linksAmong, membersPlan } from "./plans";
import type { ThemeEvent } from "./source";
import type { Route } from "./state";
import { change, hrefTo } from "./state";
import { isKey, t } from "./words";

const ORDER = ["born", "merged", "split", "grown", "revived", "renamed", "shrunk", "died", "dormant", "steady"];
const SHOWN = 24;

export function Themes({ day, asOf }: { day: number | null; asOf: number }) {
  const [most, setMost] = useState(SHOWN);
  const [changedOnly, setChangedOnly] = useState(false);
  const loading = useLoading(() => loadRun(day), `run:${day}`);
  const run = runOf(day);
  if (day === null) return <p class="faint">{t("no_run", { day: iso(asOf) })}</p>;
  if (loading.state !== "ready" || !run) return <p class="faint">{t("loading")}</p>;
  const turns = new Map<string, string>();
  for (const event of run.events) {
    const known = turns.get(event[1]);
    if (!known || ORDER.indexOf(event[0]) < ORDER.indexOf(known)) turns.set(event[1], event[0]);
  }
  const first = meta.runs[0] === day;
  const turnOf = (id: string) => turns.get(id) ?? "steady";
  const themes = run.themes.filter((theme) => theme.level === 0 && (!changedOnly || turnOf(theme.id) !== "steady"));
  themes.sort((one, two) => (first ? 0 : ORDER.indexOf(turnOf(one.id)) - ORDER.indexOf(turnOf(two.id))) || two.members.length - one.members.length);
  const small = run.themes.filter((theme) => theme.level === 1 && !theme.parent);
  const dead = run.events.filter((event) => event[0] === "died" && event[2] === 0);
  return (
    <section aria-label={t("themes_week")}>
      <h2>{t("themes_week")}</h2>
      <p class="faint">{t("themes_of", { day: iso(day), n: themes.length })}{first ? null : <label class="check"><input type="checkbox" checked={changedOnly} onChange={() => setChangedOnly(!changedOnly)} />{t("new_only")}</label>}</p>
      <div class="map">
        {themes.slice(0, most).map((theme) => {
          const said = theme.news.length ? theme.news.slice(0, 2) : theme.lines.slice(0, 1);
          const turn = turnOf(theme.id);
          return (
            <article key={theme.id} class={`card ${turn}`}>
              <h3><a href={hrefTo("theme", theme.id)}>{theme.title}</a> <span class="badge">{isKey(turn) ? t(turn) : turn}</span></h3>
              {said.map(([text, facts]) => <p key={text}>{text} <Cite facts={facts} /></p>)}
              <p class="faint">{t("members", { n: theme.members.length })}</p>
            </article>
          );
        })}
      </div>
      {themes.length > most ? <button type="button" onClick={() => setMost(most + 60)}>{t("more", { n: themes.length - most })}</button> : null}
      {small.length && !changedOnly ? <p>{t("small_themes")}：{small.map((theme, row) => <>{row ? "、" : ""}<a href={hrefTo("theme", theme.id)}>{theme.title.split("：")[0]}</a></>)}</p> : null}
      {dead.length ? <p class="faint">{t("died")}：{dead.slice(0, 20).map((event) => event[3]).join("、")}</p> : null}
    </section>
  );
}

const NEWS = 16;

/** What is new this week in one picture: the links that the news of the themes rest on, of the first run the summaries. */
export function NewsPicture({ route, day }: { route: Route; day: number | null }) {
  const loading = useLoading(() => loadRun(day), `run:${day}`);
  const run = runOf(day);
  if (day !== null && (!run || loading.state !== "ready")) return <div class="news"><p class="faint" role="status">{t("loading")}</p></div>;
  if (!run) return null;
  const filters = filtersOf(route);
  const news = run.themes.flatMap((theme) => theme.news.flatMap(([, facts]) => facts));
  const cited = new Set(news.length ? news : run.themes.flatMap((theme) => theme.lines.flatMap(([, facts]) => facts)));
  const facts = [...cited].map((id) => records.facts.get(id)).filter((fact): fact is Fact => !!fact);
  const ends = [...new Map(facts.flatMap(({ subject, object }) => [[subject.id, subject], [object.id, object]] as const)).values()];
  const found = linksAmong(records, ends.map(({ id }) => id), filters).filter((link) => link.seen.some(({ fact }) => cited.has(fact.id)));
  const links = found.sort((one, two) => two.strength - one.strength || (one.key < two.key ? -1 : 1)).slice(0, NEWS);
  const tied = new Set(links.flatMap((link) => [link.subject, link.object]));
  const plan = membersPlan(records, [...tied], filters, new Set(route.open), route.expanded, { links, limit: 2 * NEWS });
  if (!plan.links.length) return null;
  return <section class="news" aria-label={t("news_picture")}><h2>{t(news.length ? "news_picture" : "themes_picture", { day: iso(day!) })}</h2><Drawn plan={plan} route={route} filters={filters} title={t("themes_week")} />{found.length > NEWS ? <p class="notice faint">{t("too_many", { n: NEWS, m: found.length - NEWS })}</p> : null}</section>;
}

/** Numbered buttons that open the evidence of a sentence. */
export function Cite({ facts }: { facts: string[] }) {
  const known = facts.filter((id) => records.facts.has(id)).slice(0, 3);
  return (
    <span class="cites">
      {known.map((id, row) => <button key={id} type="button" class="cite" aria-label={`${t("evidence")} ${row + 1}`} onClick={() => change({ pick: `f:${id}` }, true)}>{row + 1}</button>)}
    </span>
  );
}

export function chapterText(event: ThemeEvent, asOf: number): string {
  const [turn, , , name, size, others, joined, left] = event;
  const names = (ids: string[]) => ids.map((id) => { const entity = records.entities.get(id); return entity ? (at(entity.renamed, asOf) ?? entity.name) : id; }).join("、");
  const titles = others.map((id) => `「${titleOf(id, asOf)}」`).join("");
  const parts: Record<string, string> = { grown: `+ ${names(joined)}`, shrunk: `− ${names(left)}`, merged: titles, split: titles, died: titles, born: name, renamed: name };
  const word = isKey(turn) ? t(turn) : turn;
  return [word, t("members", { n: size }), parts[turn] ?? ""].filter(Boolean).join(" · ");
}

function titleOf(id: string, asOf: number): string {
  return at(livesNow()?.themes[id]?.names ?? [], asOf) ?? id;
}

export function ThemesOf({ entity, filters }: { entity: Entity; filters: ViewFilter }) {
  const day = runDay(filters.asOf);
  useLoading(() => loadRun(day), `run:${day}`);
  const run = runOf(day);
  const place = run?.members.id.indexOf(entity.id) ?? -1;
  const found = run?.themes.filter((theme) => theme.members.includes(place)) ?? [];
  if (!found.length) return <p class="faint">{t("not_in_themes")}</p>;
  return <ul class="themes">{found.map((theme) => <li key={theme.id}><a href={hrefTo("theme", theme.id)}>{theme.title}</a> <span class="faint">{t("members", { n: theme.members.length })}</span> {theme.lines[0] ? <p>{theme.lines[0][0]} <Cite facts={theme.lines[0][1]} /></p> : null}</li>)}</ul>;
}

export function ThemePage({ route }: { route: Route }) {
  const id = route.ids[0] ?? "";
  const filters = filtersOf(route);
  const day = runDay(filters.asOf);
  const before = filters.since === null ? null : runDay(filters.since);
  const run = runOf(day);
  const theme = run?.themes.find((each) => each.id === id);
  const members = theme?.members.map((place) => run!.members.id[place]!) ?? [];
  const loading = useLoading(async () => {
    await Promise.all([loadRun(day), loadRun(before), loadLives()]);
    const found = runOf(day)?.themes.find((each) => each.id === id);
    if (found) await source.members(day!, found, found.members.map((place) => runOf(day)!.members.id[place]!), records);
  }, `theme:${id}:${day}:${before}`);
  const events = livesNow()?.themes[id]?.events.filter(([when]) => when <= filters.asOf) ?? [];
  const entities = members.map((member) => entityOf(member)).filter((each): each is Entity => each !== undefined);
  const links = loading.state === "ready" && theme ? linksAmong(records, members, filters) : [];
  const plan = loading.state === "ready" && theme ? membersPlan(records, entities, filters, new Set(route.open), route.expanded, { links }) : null;
  const body = !theme ? <p>{t("no_theme")}</p> : (
    <div class="theme">
      <section>
        {filters.since === null ? null : <Since id={id} members={members} links={links} events={events.filter(([when]) => when > filters.since!)} filters={filters} before={before} />}
        <h2>{t("summary")}</h2>
        <ul>{theme.lines.map(([text, facts]) => <li key={text}>{text} <Cite facts={facts} /></li>)}</ul>
        {theme.news.length ? <h2>{t("whats_new")}</h2> : null}
        <ul>{theme.news.map(([text, facts]) => <li key={text}>{text} <Cite facts={facts} /></li>)}</ul>
        <h2>{t("biography")}</h2>
        <Chapters events={events} asOf={filters.asOf} />
      </section>
      {plan ? <div class="drawn"><Legend all={kindsOf(plan)} links={plan.links} /><Drawn plan={plan} route={route} filters={filters} title={theme.title} /></div> : null}
    </div>
  );
  return <Frame route={route} title={theme?.title ?? t("theme")} subtitle={t("members", { n: members.length })} loading={loading} links={plan?.links ?? []} tabs={[]} notice={plan ? leftText(plan) : ""} weak={plan && !filters.weak ? countWeak(records, new Set(members), links, filters) : 0}>{body}</Frame>;
}

function Chapters({ events, asOf }: { events: [number, ...ThemeEvent][]; asOf: number }) {
  return <ol class="timeline">{events.map(([when, ...event]) => <li key={when + event[0]}><time>{iso(when)}</time> {chapterText(event, asOf)} <Cite facts={event[8]} /></li>)}</ol>;
}

const LISTED = 40;

/** What changed in a theme since the day of comparison: its members, its turns, and the links that are new or ended. */
function Since({ id, members, links, events, filters, before }: { id: string; members: string[]; links: Link[]; events: [number, ...ThemeEvent][]; filters: ViewFilter; before: number | null }) {
  const old = runOf(before);
  const then = old?.themes.find((each) => each.id === id)?.members.map((place) => old.members.id[place]!);
  const names = (ids: string[]) => ids.map((each) => entityOf(each)?.name ?? each).join("、");
  const joined = then ? members.filter((each) => !then.includes(each)) : [];
  const left = then ? then.filter((each) => !members.includes(each)) : [];
  const fresh = links.filter((link) => link.isNew);
  const ended = links.filter((link) => link.ended);
  const shown = (all: Link[]) => <ul class="links">{all.slice(0, LISTED).map((link) => <li key={link.key}>{evidenceButton(link, `${iso(link.ended ? link.last : link.first)} ${claimText(link.seen[0]!.fact, filters.asOf)}`)}</li>)}{all.length > LISTED ? <li class="faint">{t("more", { n: all.length - LISTED })}</li> : null}</ul>;
  return (
    <div class="since">
      <h2>{t("changes", { day: iso(filters.since!), n: fresh.length, m: ended.length })}</h2>
      {then ? null : <p>{before === null ? t("no_run_then", { day: iso(filters.since!) }) : t("theme_new")}</p>}
      {joined.length ? <p>{t("joined", { n: joined.length })}：{names(joined)}</p> : null}
      {left.length ? <p>{t("went", { n: left.length })}：{names(left)}</p> : null}
      <Chapters events={events} asOf={filters.asOf} />
      {fresh.length ? <h3>{t("is_new")}</h3> : null}
      {shown(fresh)}
      {ended.length ? <h3>{t("is_ended")}</h3> : null}
      {shown(ended)}
      {joined.length + left.length + events.length + fresh.length + ended.length ? null : <p>{t("no_change")}</p>}
    </div>
  );
}
