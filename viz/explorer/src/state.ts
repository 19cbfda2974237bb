/** The address is the state: every view, day, filter and change of the picture is in the hash, so back undoes. */

import { useEffect, useReducer } from "preact/hooks";

export interface Route {
  view: "home" | "company" | "chain" | "factor" | "network" | "theme" | "path" | "common" | "contested" | "ask";
  ids: string[];
  /** as-of day, or "" for the latest */
  day: string;
  since: string;
  tab: string;
  expanded: string[];
  hidden: string[];
  pinned: string[];
  open: string[];
  depth: number;
  /** what the drawer shows: `n:ENTITY`, `l:LINK` or `f:FACT` */
  pick: string;
  relations: string[];
  kinds: string[];
  modalities: string[];
  speakers: string[];
  certainty: number | null;
  sources: number;
  age: number;
  /** 1: links too unsure for answers are drawn too */
  weak: number;
  /** 1: what a fall of the factor does, not a rise */
  down: number;
  /** 1: contested links alone */
  disputed: number;
  /** most nodes of the network */
  most: number;
  from: string;
  to: string;
}

const VIEWS = new Set(["home", "company", "chain", "factor", "network", "theme", "path", "common", "contested", "ask"]);
const LISTS = {
  expanded: "x", hidden: "h", pinned: "p", open: "o", relations: "r", kinds: "k", modalities: "m", speakers: "s",
} as const;
const TEXTS = { day: "day", since: "since", tab: "tab", pick: "e", from: "from", to: "to" } as const;
const NUMBERS = { depth: "d", sources: "n", age: "age", most: "most", weak: "w", down: "fall", disputed: "disputed" } as const;
const MOST = 200;

export const HOME: Route = {
  view: "home", ids: [], day: "", since: "", tab: "", expanded: [], hidden: [], pinned: [], open: [], depth: 0, pick: "",
  relations: [], kinds: [], modalities: [], speakers: [], certainty: null, sources: 0, age: 0, weak: 0, down: 0, disputed: 0, most: 0, from: "", to: "",
};

export function read(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "home", ...ids] = path.split("/").map(decoded);
  const given = new URLSearchParams(query);
  const route: Route = { ...HOME, view: (VIEWS.has(view) ? view : "home") as Route["view"], ids: ids.filter(Boolean).slice(0, 2) };
  for (const [name, key] of Object.entries(LISTS)) {
    (route as unknown as Record<string, string[]>)[name] = (given.get(key) ?? "").split("~").filter(Boolean).slice(0, MOST);
  }
  for (const [name, key] of Object.entries(TEXTS)) (route as unknown as Record<string, string>)[name] = given.get(key) ?? "";
  for (const [name, key] of Object.entries(NUMBERS)) {
    (route as unknown as Record<string, number>)[name] = Math.max(0, Math.min(99_999, Number(given.get(key)) || 0));
  }
  for (const name of ["day", "from", "to"] as const) if (!/^\d{4}-\d{2}-\d{2}$/.test(route[name])) route[name] = "";
  const certainty = given.get("c");
  route.certainty = certainty === null ? null : Math.max(0, Math.min(1, Number(certainty) || 0));
  return route;
}

export function write(route: Route): string {
  const query = new URLSearchParams();
  for (const [name, key] of Object.entries(LISTS)) {
    const list = (route as unknown as Record<string, string[]>)[name]!;
    if (list.length) query.set(key, list.join("~"));
  }
  for (const [name, key] of Object.entries(TEXTS)) {
    const text = (route as unknown as Record<string, string>)[name]!;
    if (text) query.set(key, text);
  }
  for (const [name, key] of Object.entries(NUMBERS)) {
    const number = (route as unknown as Record<string, number>)[name]!;
    if (number) query.set(key, String(number));
  }
  if (route.certainty !== null) query.set("c", String(route.certainty));
  const path = route.view === "home" ? "" : [route.view, ...route.ids.map(encodeURIComponent)].join("/");
  const text = query.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

let depthOfHistory = (history.state as { step?: number } | null)?.step ?? 0;

/** Go to an address: a step of its own for the back button, or in place of the current one. */
export function go(route: Route, replace = false): void {
  const hash = write(route);
  if (hash === (location.hash || "#/")) return;
  if (replace) history.replaceState(history.state, "", hash);
  else history.pushState({ step: ++depthOfHistory }, "", hash);
  changed();
}

export function change(patch: Partial<Route>, replace = false): void {
  go({ ...current(), ...patch }, replace);
}

export function current(): Route {
  return read(location.hash);
}

export function undo(): void {
  if (canUndo()) history.back();
}

export function canUndo(): boolean {
  return ((history.state as { step?: number } | null)?.step ?? 0) > 0;
}

/** Return the address that opens an entity, keeping day and language. */
export function to(view: Route["view"], ...ids: string[]): Route {
  const { day, since } = current();
  return { ...HOME, view, ids, day, since };
}

export function hrefTo(view: Route["view"], ...ids: string[]): string {
  return write(to(view, ...ids));
}

const listeners = new Set<() => void>();

export function changed(): void {
  for (const listener of [...listeners]) listener();
}

addEventListener("popstate", changed);
addEventListener("hashchange", changed);

/** Render again when the address or the loaded records change. */
export function useChanges(): void {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const listener = () => again(undefined);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
}

/** Return the view that suits a kind best. */
export function viewFor(kind: string): Route["view"] {
  if (kind === "product" || kind === "industry" || kind === "theme") return "chain";
  return kind === "indicator" || kind === "event" || kind === "policy" ? "factor" : "company";
}
