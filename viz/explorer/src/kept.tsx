/** What a reader keeps: names that are followed, with what is new about them, and notes. Kept beside the base, or by the browser. */

import { useEffect, useState } from "preact/hooks";
import { ensure, filtersOf, lastDay, meta, records, useLoading } from "./app";
import type { Entity } from "./data";
import { iso } from "./data";
import { linksOf } from "./links";
import { HOME, changed, hrefTo, viewFor, write } from "./state";
import { t } from "./words";

const KEPT = "liantu.kept";
const FOLLOWED = "w:";
const NOTED = "n:";
/** with names and address, a note stays below what one request may hold */
const LONGEST = 300;
let kept: Record<string, string> = {};

/** Read what is kept: of the service where that keeps it, else of the browser, where that allows it. */
export async function loadKept(): Promise<void> {
  try {
    const found: unknown = meta.notes ? await (await fetch("explorer/notes")).json() : JSON.parse(localStorage.getItem(KEPT) ?? "null") ?? followedBefore();
    kept = found && typeof found === "object" ? (found as Record<string, string>) : {};
  } catch {
    kept = {};
  }
  changed();
}

/** Return the names that were followed before there were notes. */
function followedBefore(): Record<string, string> {
  const found = JSON.parse(localStorage.getItem("liantu.watched") ?? "[]") as { id: string }[];
  return Object.fromEntries(found.map(({ id, ...entry }) => [FOLLOWED + id, JSON.stringify(entry)]));
}

/** Keep an entry under a key, or none. */
async function keep(key: string, entry: object | null): Promise<void> {
  const { [key]: _, ...others } = kept;
  kept = entry ? { ...others, [key]: JSON.stringify(entry) } : others;
  changed();
  if (meta.notes) {
    const query = new URLSearchParams({ key, text: kept[key] ?? "" });
    const answer = await fetch(`explorer/notes?${query}`, { method: "POST", keepalive: true, headers: { "X-Liantu-Token": meta.token ?? "" } }).catch(() => null);
    if (!answer?.ok) await loadKept();
    return;
  }
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // a page opened from disk may have no storage; then it is kept for this visit
  }
}

function entries<T>(kind: string): [key: string, entry: T][] {
  return Object.entries(kept).flatMap(([key, text]): [string, T][] => {
    try {
      return key.startsWith(kind) ? [[key.slice(kind.length), JSON.parse(text) as T]] : [];
    } catch {
      return [];
    }
  });
}

interface Watched {
  name: string;
  kind: string;
  /** the last day that the reader has seen */
  seen: number;
}

/** Follow a name or follow it no longer; the button shows which. */
export function WatchButton({ entity }: { entity: Entity }) {
  const key = FOLLOWED + entity.id;
  const flip = () => void keep(key, key in kept ? null : { name: entity.name, kind: entity.kind, seen: lastDay });
  return <button type="button" aria-pressed={key in kept} onClick={flip}>{t("watch")}</button>;
}

/** The names that are followed, each with the number of links that are new since the reader last looked. */
export function WatchList() {
  const all = entries<Watched>(FOLLOWED);
  const loading = useLoading(() => ensure(all.map(([id]) => id)), `watch:${all.map(([id]) => id).join()}`);
  if (!all.length || meta.alone) return null;
  const fresh = (id: string, seen: number) => linksOf(records, id, { ...filtersOf(HOME), since: seen }).filter((link) => link.isNew || link.ended).length;
  const address = (id: string, { kind, seen }: Watched) => (seen < lastDay ? write({ ...HOME, view: "company", ids: [id], since: iso(seen) }) : hrefTo(viewFor(kind), id));
  return (
    <section aria-label={t("watched")}>
      <h2>{t("watched")}</h2>
      <p class="topics">
        {all.map(([id, each]) => {
          const count = loading.state === "ready" ? fresh(id, each.seen) : 0;
          return <a key={id} class="chip" href={address(id, each)}>{each.name}{count ? <b class="changes"> {t("new_since", { n: count, day: iso(each.seen) })}</b> : null}</a>;
        })}
        {all.some(([, each]) => each.seen < lastDay) ? <button type="button" onClick={() => all.forEach(([id, each]) => void keep(FOLLOWED + id, { ...each, seen: lastDay }))}>{t("all_seen")}</button> : null}
      </p>
    </section>
  );
}

interface Note {
  text: string;
  /** what it is about, in words, and where that is seen */
  title: string;
  address: string;
}

function noteOf(about: string): string {
  return entries<Note>(NOTED).find(([key]) => key === about)?.[1].text ?? "";
}

/** A field for a note of one's own on what the drawer shows. */
export function NoteBox({ about, title }: { about: string; title: string }) {
  const [text, setText] = useState(noteOf(about));
  useEffect(() => setText(noteOf(about)), [about, noteOf(about)]);
  const [saved, setSaved] = useState(false);
  const save = () => text.trim() === noteOf(about) || void keep(NOTED + about, text.trim() ? { text: text.trim(), title: title.slice(0, 120), address: location.hash.slice(0, 300) } : null).then(() => setSaved(text.trim() === noteOf(about)));
  return <label class="note">{t("note")}<textarea rows={2} maxLength={LONGEST} value={text} placeholder={t(meta.notes ? "note_beside" : "note_browser")} onInput={(event) => (setText(event.currentTarget.value), setSaved(false))} onBlur={save} /><span class="faint" role="status">{saved ? t("note_saved") : ""}</span></label>;
}

/** All notes, each with what it is about. */
export function NoteList() {
  const all = entries<Note>(NOTED);
  if (!all.length) return null;
  return (
    <section aria-label={t("notes")}>
      <h2>{t("notes")}</h2>
      <ul class="links">{all.map(([about, note]) => <li key={about}><a href={note.address}>{note.title}</a>：{note.text}</li>)}</ul>
    </section>
  );
}
