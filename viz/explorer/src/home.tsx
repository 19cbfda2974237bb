/** The first page: search, where to start, and this week's themes. */

import { useState } from "preact/hooks";
import { asOfDay, firstDay, lastDay, meta, records, source, useLoading } from "./app";
import { Search } from "./controls";
import { at, iso } from "./data";
import type { Lives, Run, ThemeEvent } from "./source";
import type { Route } from "./state";
import { change, go, hrefTo, to, viewFor } from "./state";
import { WatchList } from "./watch";
import { isKey, pick, t } from "./words";

const runs = new Map<number, Run>();
let lives: Lives | null = null;

/** Return the day of the last weekly run as of a day; later ones are not shown. */
export function runDay(asOf: number): number | null {
  return meta.runs.findLast((day) => day <= asOf) ?? null;
}

export function runOf(day: number | null): Run | undefined {
  return day === null ? undefined : runs.get(day);
}

export function livesNow(): Lives | null {
  return lives;
}

export async function loadRun(day: number | null): Promise<void> {
  if (day === null || runs.has(day)) return;
  const run = await source.run(day);
  records.addEntities(run.members);
  records.add(run.records);
  runs.set(day, run);
}

export async function loadLives(): Promise<void> {
  lives ??= await source.lives();
  records.addEntities(lives.entities);
}

export function Home({ route }: { route: Route }) {
  const asOf = asOfDay(route);
  const kinds = [...new Set(meta.topics.map(([, , kind]) => kind))];
  return (
    <div class="home">
      <h1>{t("title")}</h1>
      <p class="faint">{t("slogan")}</p>
      <Search route={route} id="search-home" label={t("search")} onChoose={(match) => go(to(viewFor(match.kind), match.id))} />
      <p class="faint">{t("coverage", { docs: meta.documents, facts: meta.facts, from: iso(firstDay), to: iso(lastDay) })}</p>
      <WatchList />
      <h2>{t("topics")}</h2>
      {kinds.map((kind) => (
        <p key={kind} class="topics">
          <span class="faint">{pick(meta.kinds[kind])}</span>
          {meta.topics.filter((topic) => topic[2] === kind).map(([id, name]) => <a key={id} class="chip" href={hrefTo(viewFor(kind), id)}>{name}</a>)}
        </p>
      ))}
      <Themes route={route} day={runDay(asOf)} asOf={asOf} />
    </div>
  );
}

const ORDER = ["born", "merged", "split", "grown", "revived", "renamed", "shrunk", "died", "dormant", "steady"];
const SHOWN = 24;

function Themes({ route, day, asOf }: { route: Route; day: number | null; asOf: number }) {
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
  const largest = Math.max(1, ...themes.map((theme) => theme.members.length));
  const small = run.themes.filter((theme) => theme.level === 1 && !theme.parent);
  const dead = run.events.filter((event) => event[0] === "died" && event[2] === 0);
  return (
    <section aria-label={t("themes_week")}>
      <h2>{t("themes_week")}</h2>
      <p class="faint">{t("themes_of", { day: iso(day), n: themes.length })}{first ? null : <label class="check"><input type="checkbox" checked={changedOnly} onChange={() => setChangedOnly(!changedOnly)} />{t("new_only")}</label>}</p>
      <div class="map">
        {themes.slice(0, most).map((theme) => {
          const [line] = [...theme.news, ...theme.lines];
          const turn = turnOf(theme.id);
          return (
            <article key={theme.id} class={`card ${turn}`}>
              <h3><a href={hrefTo("theme", theme.id)}>{theme.title}</a> <span class="badge">{isKey(turn) ? t(turn) : turn}</span></h3>
              <div class="bar" aria-hidden="true"><svg viewBox="0 0 100 4" preserveAspectRatio="none"><rect width={(100 * theme.members.length) / largest} height="4" /></svg></div>
              <p class="faint">{t("members", { n: theme.members.length })}</p>
              {line ? <p>{line[0]} <Cite facts={line[1]} route={route} /></p> : null}
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

/** Numbered buttons that open the evidence of a sentence. */
export function Cite({ facts }: { facts: string[]; route: Route }) {
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
  return at(lives?.themes[id]?.names ?? [], asOf) ?? id;
}
