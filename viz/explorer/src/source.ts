/** Where records come from: the query API of `liantu explore`, or the parts that `liantu exhibit` wrote next to the page. */

import type { Entity, Meta, PackedEntities, Part, WirePicture } from "./data";
import { Records, cut } from "./data";

export interface Match {
  id: string;
  name: string;
  kind: string;
  code: string;
  matched: string;
}

export interface Passage {
  document: string;
  title: string;
  day: string;
  start: number;
  text: string;
}

export interface PackedTheme {
  id: string;
  level: number;
  parent: string;
  title: string;
  members: number[];
  lines: [string, string[]][];
  news: [string, string[]][];
}

export interface Run {
  day: number;
  members: PackedEntities;
  themes: PackedTheme[];
  events: ThemeEvent[];
  records: Part;
}

/** turn, theme, level, name, size, other themes, joined, left, facts */
export type ThemeEvent = [string, string, number, string, number, string[], string[], string[], string[]];

export interface Lives {
  themes: Record<string, { names: [number, string][]; sizes: [number, number][]; events: [number, ...ThemeEvent][] }>;
  entities: PackedEntities;
}

export interface AskedLine {
  text: string;
  indent: number;
  citations: { document: string; title: string; publisher: string; speaker: string; published_on: string; page: number | null; start: number; end: number; quote: string }[];
}

/** An answer in the format of `liantu ask --json`. */
export interface Asked {
  status: string;
  understood: { operation: string; direction: number; entities: { id: string; kind: string; name: string }[] };
  lines: AskedLine[];
  passages: AskedLine[];
  choices: { id: string; kind: string; name: string }[];
  near: string[];
}

export interface Source {
  /** Load all facts with one of these ends, of all days. */
  load(ids: string[], records: Records): Promise<void>;
  /** Return the entities that a text may mean, as of a day, "" for the latest. */
  search(text: string, asOf: string, limit: number): Promise<Match[]>;
  /** Return a stretch of a stored text and where it begins. */
  text(document: string, start: number, end: number): Promise<{ text: string; start: number; more: boolean }>;
  passages(words: string, asOf: string): Promise<Passage[]>;
  /** Return the answer to the question of a view, ready to draw; null if there is none. */
  picture(view: string, ids: string[], options: Record<string, string>): Promise<WirePicture | null>;
  /** Answer a question in words. */
  ask(question: string, asOf: string): Promise<Asked>;
  run(day: number): Promise<Run>;
  lives(): Promise<Lives>;
  /** Return the facts of all links that are contested on some day. */
  contested(): Promise<Part>;
  /** Load the facts between the members of a theme. */
  members(day: number, theme: PackedTheme, ids: string[], records: Records): Promise<void>;
}

export class SourceError extends Error {}

const BATCH = 40;

function dated(asOf: string): Record<string, string> {
  return asOf ? { as_of: asOf } : {};
}

/** The query API, on the same origin. */
export class ServedSource implements Source {
  async load(ids: string[], records: Records): Promise<void> {
    for (let begin = 0; begin < ids.length; begin += BATCH) {
      const query = new URLSearchParams(ids.slice(begin, begin + BATCH).map((id) => ["id", id]));
      records.add(await this.get<Part>(`explorer/records?${query}`));
    }
  }

  async search(text: string, asOf: string, limit: number): Promise<Match[]> {
    if (!text.trim()) return [];
    const query = new URLSearchParams({ q: text.slice(0, 200), limit: String(limit), ...dated(asOf) });
    const found = await this.get<{ id: string; name: string; kind: string; codes: string[]; matched: string }[]>(
      `v1/entities?${query}`,
    );
    return found.map((each) => ({ ...each, code: each.codes[0] ?? "" }));
  }

  async text(document: string, start: number, end: number): Promise<{ text: string; start: number; more: boolean }> {
    const path = `v1/documents/${encodeURIComponent(document)}?start=${Math.max(0, start)}`;
    const part = await this.get<{ text: string; start: number; next_start: number | null }>(path);
    const wanted = cut(part.text, 0, end - part.start);
    return { text: wanted, start: part.start, more: wanted.length < part.text.length || part.next_start !== null };
  }

  async passages(words: string, asOf: string): Promise<Passage[]> {
    const query = new URLSearchParams({ query: words.slice(0, 1000), limit: "5", ...dated(asOf) });
    type Found = { chunk: { document: string; start: number; text: string }; title: string; published_on: string };
    const found = await this.get<Found[]>(`v1/passages?${query}`);
    return found.map(({ chunk, title, published_on }) => ({
      document: chunk.document, title, day: published_on, start: chunk.start, text: chunk.text.slice(0, 160),
    }));
  }

  picture(view: string, ids: string[], options: Record<string, string>): Promise<WirePicture | null> {
    const query = new URLSearchParams([...ids.map((id) => ["id", id]), ...Object.entries(options)] as [string, string][]);
    return this.get(`explorer/picture/${view}?${query}`);
  }

  ask(question: string, asOf: string): Promise<Asked> {
    return this.get(`v1/ask?${new URLSearchParams({ question: question.slice(0, 500), ...dated(asOf) })}`);
  }

  run(day: number): Promise<Run> {
    return this.get(`explorer/run?day=${day}`);
  }

  lives(): Promise<Lives> {
    return this.get("explorer/lives");
  }

  contested(): Promise<Part> {
    return this.get("explorer/contested");
  }

  async members(day: number, theme: PackedTheme, _: string[], records: Records): Promise<void> {
    records.add(await this.get<Part>(`explorer/members?${new URLSearchParams({ day: String(day), theme: theme.id })}`));
  }

  private async get<T>(path: string): Promise<T> {
    let response: Response;
    try {
      response = await fetch(path, { headers: { Accept: "application/json" } });
    } catch {
      throw new SourceError("offline");
    }
    if (!response.ok) throw new SourceError(String(response.status));
    return (await response.json()) as T;
  }
}

interface Index {
  entities: PackedEntities;
  initials: string[];
  pinyin: string[];
  /** what people call some names: 宁王 */
  spoken: Record<string, string[]>;
  degree: number[];
  since: number[];
  parts: number[][];
  names: string[];
  /** for each packed answer, as "VIEW ID": the number of its part */
  pictures: Record<string, number>;
}

interface Documents {
  id: string[];
  title: string[];
  publisher: string[];
  day: number[];
  url: string[];
  part: number[];
}

/** The parts of an exhibit: script files next to the page, or data blocks in it. Nothing is fetched. */
export class PackedSource implements Source {
  private readonly parts = new Map<string, Promise<unknown>>();
  private readonly added = new Set<string>();
  private readonly arrived = new Map<string, (data: string) => void>();
  private rows: Promise<Map<string, number>> | null = null;

  constructor() {
    (globalThis as { liantuPart?: (name: string, data: string) => void }).liantuPart = (name, data) =>
      this.arrived.get(name)?.(data);
  }

  async load(ids: string[], records: Records): Promise<void> {
    const index = await this.index();
    const rows = await this.places();
    const wanted = new Set(ids.flatMap((id) => index.parts[rows.get(id) ?? -1] ?? []));
    const names = [...wanted].map((number) => index.names[number]!).filter((name) => !this.added.has(name));
    const parts = await Promise.all(names.map(async (name) => [name, await this.part<Part>(name)] as const));
    for (const [name, part] of parts) {
      if (!this.added.has(name)) records.add(part);
      this.added.add(name);
    }
  }

  async search(text: string, asOf: string, limit: number): Promise<Match[]> {
    const index = await this.index();
    const day = asOf ? Date.parse(`${asOf}T00:00:00Z`) / 86_400_000 : Infinity;
    const wanted = fold(text);
    if (!wanted) return [];
    const found: [number, number, Match][] = [];
    const { id, name, kind, code, aliases, renamed } = index.entities;
    const look = (ranks: (called: string, others: string[], row: number) => [number, string] | null) => id.forEach((each, row) => {
      if (index.since[row]! > day) return;
      const known = renamed[each]?.filter(([from]) => from <= day).map(([, called]) => called) ?? [name[row]!];
      const called = known.at(-1) ?? name[row]!;
      const others = [...(renamed[each] ? known : aliases[row]!.split("、")), ...(index.spoken[name[row]!] ?? [])];
      const ranked = ranks(called, others, row);
      if (ranked) {
        const match = { id: each, name: called, kind: kind[row]!, code: code[row]!, matched: ranked[1] };
        found.push([ranked[0], -index.degree[row]!, match]);
      }
    });
    look((called, others, row) => rankOf(wanted, called, code[row]!, others, index.initials[row]!, index.pinyin[row]!));
    if (!found.length) look((called, _, row) => (typosIn(wanted, fold(called)) || typosIn(wanted, index.pinyin[row]!) ? [3, called] : null));
    found.sort((one, other) => one[0] - other[0] || one[1] - other[1] || (one[2].id < other[2].id ? -1 : 1));
    return found.slice(0, limit).map(([, , match]) => match);
  }

  async text(document: string, start: number, end: number): Promise<{ text: string; start: number; more: boolean }> {
    const stored = await this.stored(document);
    const from = Math.max(0, start);
    if (typeof stored === "string") return { text: cut(stored, from, end), start: from, more: end < stored.length };
    // a file of one answer holds the stretches around its quotes
    const [begin, text] = stored.findLast(([place]) => place <= from) ?? stored[0] ?? [0, ""];
    const skipped = Math.max(0, from - begin);
    return { text: cut(text, skipped, Math.max(skipped, end - begin)), start: begin + skipped, more: false };
  }

  async passages(words: string, asOf: string): Promise<Passage[]> {
    const heads = await this.part<Documents>("documents");
    const day = asOf ? Date.parse(`${asOf}T00:00:00Z`) / 86_400_000 : Infinity;
    const found: Passage[] = [];
    for (let row = heads.id.length - 1; row >= 0 && found.length < 5; row--) {
      if (heads.day[row]! > day) continue;
      const stored = await this.stored(heads.id[row]!);
      const [begin, whole] = (typeof stored === "string" ? [[0, stored] as const] : stored).find(([, text]) => text.includes(words)) ?? [0, ""];
      const place = whole.indexOf(words);
      if (place < 0) continue;
      const start = Math.max(0, place - 60);
      const published = new Date(heads.day[row]! * 86_400_000).toISOString().slice(0, 10);
      const text = whole.slice(start, place + 100);
      found.push({ document: heads.id[row]!, title: heads.title[row]!, day: published, start: begin + start, text });
    }
    return found;
  }

  /** A file holds the answers of its latest day; the page leaves out of them what a filter excludes. */
  async picture(view: string, ids: string[], options: Record<string, string>): Promise<WirePicture | null> {
    const { pictures } = await this.index();
    const key = [view, ...ids, ...(options.direction === "down" ? ["down"] : [])].join(" ");
    const part = pictures[key];
    return part === undefined ? null : ((await this.part<Record<string, WirePicture>>(`pictures-${part}`))[key] ?? null);
  }

  ask(): Promise<Asked> {
    return Promise.reject(new SourceError("missing"));
  }

  run(day: number): Promise<Run> {
    return this.part(`run-${day}`);
  }

  lives(): Promise<Lives> {
    return this.part("lives");
  }

  contested(): Promise<Part> {
    return this.part("contested");
  }

  members(_: number, __: PackedTheme, ids: string[], records: Records): Promise<void> {
    return this.load(ids, records);
  }

  private async stored(document: string): Promise<string | [start: number, text: string][]> {
    const heads = await this.part<Documents>("documents");
    const part = heads.part[heads.id.indexOf(document)] ?? -1;
    return part < 0 ? "" : ((await this.part<Record<string, string | [number, string][]>>(`texts-${part}`))[document] ?? "");
  }

  private index(): Promise<Index> {
    return this.part("index");
  }

  private places(): Promise<Map<string, number>> {
    this.rows ??= this.index().then((index) => new Map(index.entities.id.map((id, row) => [id, row])));
    return this.rows;
  }

  private part<T>(name: string): Promise<T> {
    const known = this.parts.get(name) ?? this.read(name);
    this.parts.set(name, known);
    return known as Promise<T>;
  }

  private async read(name: string): Promise<unknown> {
    const inline = document.getElementById(`part:${name}`)?.textContent;
    const data = inline ?? (await this.script(name));
    const text = atob(data);
    const bytes = new Uint8Array(text.length);
    for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  private script(name: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.arrived.set(name, resolve);
      const script = document.createElement("script");
      script.src = `liantu-parts/${name}.js`;
      script.onerror = () => reject(new SourceError("missing"));
      script.onload = () => script.remove();
      document.head.append(script);
    });
  }
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, "");
}

/** Whether a text is a name but for a letter or two that are wrong, missing or too many. */
function typosIn(wanted: string, name: string): boolean {
  const most = wanted.length > 6 ? 2 : 1;
  if (wanted.length < 3 || Math.abs(wanted.length - name.length) > most) return false;
  let row = Array.from({ length: name.length + 1 }, (_, place) => place);
  for (let one = 1; one <= wanted.length; one++) {
    const next = [one];
    for (let two = 1; two <= name.length; two++) next.push(Math.min(row[two]! + 1, next[two - 1]! + 1, row[two - 1]! + Number(wanted[one - 1] !== name[two - 1])));
    row = next;
  }
  return row.at(-1)! <= most;
}

function rankOf(
  wanted: string, name: string, code: string, aliases: string[], initials: string, pinyin: string,
): [number, string] | null {
  let best: [number, string] | null = null;
  const better = (rank: number, text: string) => {
    if (!best || rank < best[0]) best = [rank, text];
  };
  for (const each of [name, ...aliases]) {
    const folded = fold(each);
    if (!folded) continue;
    if (folded === wanted) better(0, each);
    else if (folded.startsWith(wanted)) better(1, each);
    else if (folded.includes(wanted)) better(3, each);
  }
  const folded = fold(code);
  if (folded && (folded === wanted || folded.split(".")[0] === wanted)) better(0, code);
  else if (folded.startsWith(wanted)) better(1, code);
  if (initials && initials === wanted) better(1, name);
  else if (wanted.length > 1 && (initials.startsWith(wanted) || pinyin.startsWith(wanted))) better(2, name);
  return best;
}

export function sourceFor(meta: Meta): Source {
  return meta.mode === "served" ? new ServedSource() : new PackedSource();
}

export type { Entity };
