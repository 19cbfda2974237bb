/** The first page: search, a picture of what is new, where to start, and this week's themes. */

import { asOfDay, firstDay, lastDay, meta, runDay } from "./app";
import { Search } from "./controls";
import { iso } from "./data";
import { LIST } from "./drawer";
import { NoteList, WatchList } from "./kept";
import type { Route } from "./state";
import { go, hrefTo, to, viewFor, write } from "./state";
import { NewsPicture, Themes } from "./themes";
import { pick, t } from "./words";

export function Home({ route }: { route: Route }) {
  const asOf = asOfDay(route);
  const kinds = [...new Set(meta.topics.map(([, , kind]) => kind))];
  return (
    <div class="home">
      <h1>{t("title")}</h1>
      <p class="faint">{t("slogan")}</p>
      <Search route={route} id="search-home" label={t("search")} onChoose={(match) => go(to(viewFor(match.kind), match.id))} />
      <p class="faint">{t("coverage", { docs: meta.documents, facts: meta.facts, from: iso(firstDay), to: iso(lastDay) })}{meta.below ? t("below", { n: meta.below }) : ""}</p>
      <WatchList />
      <NoteList />
      <NewsPicture route={route} day={runDay(asOf)} />
      <h2>{t("topics")}</h2>
      {meta.alone ? null : <p class="topics"><a class="chip" href={write({ ...to("contested"), pick: LIST })}>{t("contested_all")}</a></p>}
      {kinds.map((kind) => (
        <p key={kind} class="topics">
          <span class="faint">{pick(meta.kinds[kind])}</span>
          {meta.topics.filter((topic) => topic[2] === kind).map(([id, name]) => <a key={id} class="chip" href={hrefTo(viewFor(kind), id)}>{name}</a>)}
        </p>
      ))}
      <Themes day={runDay(asOf)} asOf={asOf} />
    </div>
  );
}
