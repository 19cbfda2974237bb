/** The open base: what is loaded, and the reader's sight of it as the address says. */

import { useEffect, useState } from "preact/hooks";
import type { Entity, Meta } from "./data";
import { Records, dayOf, iso } from "./data";
import type { Sight } from "./links";
import type { Source } from "./source";
import { SourceError, sourceFor } from "./source";
import type { Route } from "./state";
import { changed } from "./state";

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

export function sightOf(route: Route): Sight {
  return {
    asOf: asOfDay(route),
    since: sinceDay(route),
    relations: new Set(route.relations),
    kinds: new Set(route.kinds),
    modalities: new Set(route.modalities),
    speakers: new Set(route.speakers),
    certainty: route.certainty ?? meta.threshold,
    sources: route.sources,
    age: route.age,
    from: dayOf(route.from),
    to: dayOf(route.to),
    hidden: new Set(route.hidden),
    pinned: new Set(route.pinned),
  };
}

/** A sight of everything ever published, to load what any day of the slider may need. */
export function wholeSight(): Sight {
  const none = new Set<string>();
  return {
    asOf: lastDay, since: null, relations: none, kinds: none, modalities: none, speakers: none, hidden: none, pinned: none,
    certainty: 0, sources: 0, age: 0, from: null, to: null,
  };
}

/** Return the as-of day for the query API, "" for the latest, which it answers fastest. */
export function asOfText(route: Route): string {
  const day = asOfDay(route);
  return day === lastDay ? "" : iso(day);
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
