/** The open base: what is loaded, and the reader's filters of it from the address. */

import { useEffect, useState } from "preact/hooks";
import type { Entity, Meta, WirePicture } from "./data";
import { Records, dayOf, iso } from "./data";
import type { ViewFilter } from "./links";
import type { Lives, Run, Source } from "./source";
import { SourceError, sourceFor } from "./source";
import type { Route } from "./state";
import { HOME, changed } from "./state";

export const meta: Meta = JSON.parse(document.getElementById("meta")?.textContent ?? "{}") as Meta;
export const records = new Records(meta.relations);
export const source: Source = sourceFor(meta);
export const lastDay = meta.days.at(-1)?.[0] ?? 0;
export const firstDay = meta.days[0]?.[0] ?? 0;

const loaded = new Set<string>();
const pending = new Map<string, Promise<void>>();

/** Load the facts around entities that are not loaded yet. */
export async function ensure(ids: string[]): Promise<void> {
  const missing = [...new Set(ids)].filter((id) => id && !loaded.has(id) && !pending.has(id));
  if (missing.length) {
    const work = source.load(missing, records).then(() => missing.forEach((id) => loaded.add(id)));
    for (const id of missing) pending.set(id, work);
    try {
      await work;
    } finally {
      for (const id of missing) pending.delete(id);
    }
  }
  await Promise.all(ids.map((id) => pending.get(id)));
}

export function isLoaded(id: string): boolean {
  return loaded.has(id);
}

export function asOfDay(route: Route): number {
  return Math.min(lastDay, dayOf(route.day) ?? lastDay);
}

export function sinceDay(route: Route): number | null {
  const asOf = asOfDay(route);
  const spans: Record<string, number> = { week: 7, month: 30, quarter: 91 };
  const day = route.since in spans ? asOf - spans[route.since]! : dayOf(route.since);
  return day !== null && day < asOf ? day : null;
}

export function filtersOf(route: Route): ViewFilter {
  return {
    asOf: asOfDay(route),
    since: sinceDay(route),
    relations: new Set(route.relations),
    kinds: new Set(route.kinds),
    modalities: new Set(route.modalities),
    speakers: new Set(route.speakers),
    certainty: route.certainty,
    weak: route.weak > 0,
    disputed: route.disputed > 0,
    sources: route.sources,
    age: route.age,
    from: dayOf(route.from),
    to: dayOf(route.to),
    hidden: new Set(route.hidden),
    pinned: new Set(route.pinned),
  };
}

/** A filters of everything ever published, to load what any day of the slider may need. */
export function noFilters(): ViewFilter {
  return { ...filtersOf(HOME), asOf: lastDay, certainty: 0 };
}

/** Pictures by question; null: this file or day has none. */
const pictures = new Map<string, WirePicture | null>();
const latest = new Map<string, WirePicture | null>();
const KEPT = 400;
/** milliseconds from a picture to what else is known of its names */
const AFTER = 100;

function questionOf(route: Route, day: string): [key: string, options: Record<string, string>] {
  const options: Record<string, string> = {};
  if (day) options.as_of = day;
  if (route.certainty !== null) options.min_confidence = String(route.certainty);
  if (route.depth && route.view === "chain") options.depth = String(Math.min(4, route.depth));
  if (route.down && route.view === "factor") options.direction = "down";
  return [JSON.stringify([route.view, route.ids, options]), options];
}

/** Return the days of the answers that a view shows: with a comparison, also that of the day before the changes. */
function askedDays(route: Route): string[] {
  const since = sinceDay(route);
  return [asOfText(route), ...(since === null ? [] : [iso(since)])];
}

/** Load the answer that a view shows, and the facts that it rests on. */
export async function loadPictures(route: Route): Promise<void> {
  if (pictures.size > KEPT) pictures.clear();
  const later: string[] = [];
  for (const day of askedDays(route)) {
    const [key, options] = questionOf(route, day);
    if (!pictures.has(key)) pictures.set(key, route.ids.length ? await source.picture(route.view, route.ids, options) : null);
    const picture = pictures.get(key);
    if (picture?.records) {
      records.addEntities(picture.records.others);
      records.add(picture.records);
      // what else is known of the names is not drawn: it comes later, after the picture is on the screen
      later.push(...picture.ids, ...route.ids);
    } else await ensure(picture?.ids ?? []);
  }
  latest.set(route.view + route.ids.join(), pictures.get(questionOf(route, asOfText(route))[0]) ?? null);
  await ensure([...route.ids.filter((id) => !later.length || !entityOf(id)), ...route.expanded]);
  if (later.length) setTimeout(() => void ensure(later).then(changed, () => undefined), AFTER);
}

/** Return the answers that a view shows; while another day is being asked for, the last one shown; undefined: none yet. */
export function picturesOf(route: Route): WirePicture[] | undefined {
  const found = askedDays(route).map((day) => pictures.get(questionOf(route, day)[0]));
  if (found.every((each) => each !== undefined)) return found.filter((each): each is WirePicture => each !== null);
  const last = latest.get(route.view + route.ids.join());
  return last ? [last] : undefined;
}

let contested: Promise<void> | null = null;

/** Load all links that are contested on some day. */
export function loadContested(): Promise<void> {
  contested ??= source.contested().then((part) => records.add(part));
  contested.catch(() => (contested = null));
  return contested;
}

export function pictureKey(route: Route): string {
  return askedDays(route).map((day) => questionOf(route, day)[0]).join() + route.expanded.join();
}

/** Return the as-of day for the query API, "" for the latest, which it answers fastest. */
export function asOfText(route: Route): string {
  const day = asOfDay(route);
  return day === lastDay ? "" : iso(day);
}

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

export interface Loading {
  state: "loading" | "ready" | "failed";
  why: string;
  retry: () => void;
}

/** Run the work of loading when what it depends on changes; render again when it is done. */
export function useLoading(work: () => Promise<unknown>, on: string): Loading {
  const [outcome, setOutcome] = useState<{ on: string; why: string } | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let current = true;
    const done = (why: string) => {
      if (current) setOutcome({ on, why });
      changed();
    };
    work().then(
      () => done(""),
      (error: unknown) => {
        if (!(error instanceof SourceError)) throw error;
        done(error.message);
      },
    );
    return () => {
      current = false;
    };
  }, [on, turn]);
  const ready = outcome?.on === on;
  const retry = () => {
    setOutcome(null);
    setTurn(turn + 1);
  };
  return { state: !ready ? "loading" : outcome.why ? "failed" : "ready", why: ready ? outcome.why : "", retry };
}

export function entityOf(id: string): Entity | undefined {
  return records.entities.get(id);
}
