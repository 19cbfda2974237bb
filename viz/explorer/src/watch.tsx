/** Names that a reader follows, and what is new about them since the last look. They stay in the browser. */

import { ensure, lastDay, meta, records, filtersOf, useLoading } from "./app";
import type { Entity } from "./data";
import { iso } from "./data";
import { linksOf } from "./links";
import { HOME, changed, hrefTo, viewFor, write } from "./state";
import { t } from "./words";

const KEPT = "liantu.watched";
const MOST = 40;

interface Watched {
  id: string;
  name: string;
  kind: string;
  /** the last day that the reader has seen */
  seen: number;
}

function read(): Watched[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(found) ? (found as Watched[]).filter((each) => typeof each?.id === "string" && typeof each.seen === "number") : [];
  } catch {
    return [];
  }
}

function keep(all: Watched[]): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(all.slice(-MOST)));
  } catch {
    // a page opened from disk may have no storage; then nothing is followed
  }
  changed();
}

/** Follow a name or follow it no longer; the button shows which. */
export function WatchButton({ entity }: { entity: Entity }) {
  const all = read();
  const watched = all.find((each) => each.id === entity.id);
  const flip = () => keep(watched ? all.filter((each) => each !== watched) : [...all, { id: entity.id, name: entity.name, kind: entity.kind, seen: lastDay }]);
  return <button type="button" aria-pressed={watched !== undefined} onClick={flip}>{t("watch")}</button>;
}

/** The names that are followed, each with the number of links that are new since the reader last looked. */
export function WatchList() {
  const all = read();
  const loading = useLoading(() => ensure(all.map((each) => each.id)), `watch:${all.map((each) => each.id).join()}`);
  if (!all.length || meta.alone) return null;
  const fresh = ({ id, seen }: Watched) => linksOf(records, id, { ...filtersOf(HOME), since: seen }).filter((link) => link.isNew || link.ended).length;
  const address = ({ id, kind, seen }: Watched) => (seen < lastDay ? write({ ...HOME, view: "company", ids: [id], since: iso(seen) }) : hrefTo(viewFor(kind), id));
  return (
    <section aria-label={t("watched")}>
      <h2>{t("watched")}</h2>
      <p class="topics">
        {all.map((each) => {
          const count = loading.state === "ready" ? fresh(each) : 0;
          return <a key={each.id} class="chip" href={address(each)}>{each.name}{count ? <b class="changes"> {t("new_since", { n: count, day: iso(each.seen) })}</b> : null}</a>;
        })}
        {all.some((each) => each.seen < lastDay) ? <button type="button" onClick={() => keep(all.map((each) => ({ ...each, seen: lastDay })))}>{t("all_seen")}</button> : null}
      </p>
    </section>
  );
}
