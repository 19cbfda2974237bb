/** Records as packed by viz/exhibit/packing.py, and what of them is visible as of a day. Days count from 1970-01-01. */

export interface Relation {
  name: string;
  family: "structure" | "chain" | "causal" | "measured";
  /** what the code asks for instead of a name: see kg/relations.yaml */
  role: string;
  /** whether it is listed among the events of an entity */
  timeline: boolean;
  symmetric: boolean;
  half_life: number;
  weight: number;
  /** the least certainty of a link that is drawn, and of one that is drawn as weak */
  cut: number;
  weak: number;
  /** column and section of the other end in a picture of an entity: if it is the subject, and if it is the object */
  places: [number, string][];
  wording: [string, string];
  inverse: [string, string];
}

/** A picture as written by viz/exhibit/pictures.py; nodes are numbers of `ids`. */
export interface WirePicture {
  v: number;
  kind: string;
  topics: string[];
  ids: string[];
  columns: [step: number, title: string, sections: [id: string, title: string, items: WireItem[]][]][];
  links: WireLink[];
  paths: [nodes: number[], links: number[], sign: number, weight: number][];
  left: number;
  /** the facts behind the links, where the service sends them along; else they are loaded by the ids */
  records?: Part & { others: PackedEntities };
}

type WireItem = [node: number, move: number, basis: string, topic: number, inset: number, weak: number];
export type WireLink = [subject: number, relation: string, object: number, sign: number, denied: number, weight: number, facts: string[], weak: number];

export interface Meta {
  mode: "served" | "packed";
  lang: "zh" | "en";
  documents: number;
  facts: number;
  /** how many of the facts are too unsure for answers */
  below: number;
  days: [number, number][];
  publishers: [string, number][];
  topics: [string, string, string][];
  relations: Relation[];
  kinds: Record<string, [string, string]>;
  threshold: number;
  runs: number[];
  /** the address that the page opens at, "" for the first page */
  start: string;
  /** whether the file holds one answer only */
  alone: boolean;
  token?: string;
  /** whether the service keeps notes beside the base; else the browser does */
  notes?: boolean;
}

export interface Entity {
  id: string;
  name: string;
  kind: string;
  code: string;
  aliases: string;
  about: string;
  renamed: [number, string][];
}

export interface Doc {
  id: string;
  title: string;
  publisher: string;
  day: number;
  url: string;
  pages: number[];
  copies: [number, string][];
}

export interface Evidence {
  doc: Doc;
  start: number;
  end: number;
  speaker: string;
  confidence: number;
}

export interface Value {
  number: number;
  unit: string;
  scale: string;
  change: string;
  basis: string;
  high: number | null;
}

export interface Valid {
  text: string;
  start: number | null;
  end: number | null;
}

export interface Fact {
  id: string;
  subject: Entity;
  relation: Relation;
  object: Entity;
  sign: number;
  negated: boolean;
  modality: string;
  value: Value | null;
  valid: Valid | null;
  qualifiers: Record<string, string>;
  supersessions: [number, string][];
  rivals: string[];
  evidence: Evidence[];
}

type Row = [
  string, number, number, number, number, number, string,
  ([number, string, string, string, string, number | null] | null)?,
  ([string, number | null, number | null] | null)?,
  (Record<string, string> | null)?,
  ([number, string][] | null)?,
  (string[] | null)?,
];

export interface PackedEntities {
  id: string[];
  name: string[];
  kind: string[];
  code: string[];
  aliases: string[];
  about: Record<string, string>;
  renamed: Record<string, [number, string][]>;
}

export interface Part {
  entities: PackedEntities;
  documents: {
    id: string[];
    title: string[];
    publisher: string[];
    day: number[];
    url: string[];
    pages: Record<string, number[]>;
  };
  copies: Record<string, [number, string][]>;
  speakers: string[];
  facts: Row[];
  evidence: [number, number, number, number, number][][];
}

const MODALITIES: Record<string, string> = {
  a: "asserted", p: "planned", f: "forecast", c: "conditional", r: "rumoured",
};
const UNKNOWN: Relation = {
  name: "", family: "structure", role: "untyped", timeline: false, symmetric: false, half_life: 365, weight: 0.1, cut: 1, weak: 1, places: [], wording: ["", ""], inverse: ["", ""],
};

/** A fact as of a day: its visible evidence, and whether a later fact has closed it by then. */
export interface VisibleFact {
  fact: Fact;
  evidence: Evidence[];
  closedBy: string;
  confidence: number;
  first: number;
  last: number;
}

/** All records loaded so far. */
export class Records {
  readonly entities = new Map<string, Entity>();
  readonly documents = new Map<string, Doc>();
  readonly facts = new Map<string, Fact>();
  private readonly touching = new Map<string, Fact[]>();

  constructor(private readonly relations: Relation[]) {}

  add(part: Part): void {
    const ends = this.addEntities(part.entities);
    const docs = part.documents.id.map((id, row) => this.addDocument(part, id, row));
    part.facts.forEach((row, place) => {
      const fact = this.read(row, ends, part.evidence[place] ?? [], docs, part.speakers);
      const known = this.facts.get(fact.id);
      if (known) {
        // Another part may know more of its rivals.
        if (fact.supersessions.length > known.supersessions.length) known.supersessions = fact.supersessions;
        if (fact.rivals.length > known.rivals.length) known.rivals = fact.rivals;
        return;
      }
      this.facts.set(fact.id, fact);
      this.touch(fact.subject.id, fact);
      if (fact.object !== fact.subject) this.touch(fact.object.id, fact);
    });
  }

  addEntities(packed: PackedEntities): Entity[] {
    return packed.id.map((id, row) => {
      const known = this.entities.get(id);
      if (known) return known;
      const entity: Entity = {
        id,
        name: packed.name[row] ?? id,
        kind: packed.kind[row] ?? "",
        code: packed.code[row] ?? "",
        aliases: packed.aliases[row] ?? "",
        about: packed.about[id] ?? "",
        renamed: packed.renamed[id] ?? [],
      };
      this.entities.set(id, entity);
      return entity;
    });
  }

  around(id: string): Fact[] {
    return this.touching.get(id) ?? [];
  }

  /** Return the loaded facts around an entity that are visible as of a day; closed ones only if asked for. */
  seen(id: string, asOf: number, closed = false): VisibleFact[] {
    const found: VisibleFact[] = [];
    for (const fact of this.around(id)) {
      const seen = see(fact, asOf);
      if (seen && (closed || !seen.closedBy)) found.push(seen);
    }
    return found;
  }

  private touch(id: string, fact: Fact): void {
    const list = this.touching.get(id);
    if (list) list.push(fact);
    else this.touching.set(id, [fact]);
  }

  private addDocument(part: Part, id: string, row: number): Doc {
    const packed = part.documents;
    const known = this.documents.get(id);
    if (known) {
      known.copies = part.copies[id] ?? known.copies;
      return known;
    }
    const doc: Doc = {
      id,
      title: packed.title[row] ?? "",
      publisher: packed.publisher[row] ?? "",
      day: packed.day[row] ?? 0,
      url: packed.url[row] ?? "",
      pages: packed.pages[id] ?? [],
      copies: part.copies[id] ?? [],
    };
    this.documents.set(id, doc);
    return doc;
  }

  private read(row: Row, ends: Entity[], evidence: Part["evidence"][number], docs: Doc[], speakers: string[]): Fact {
    const [id, subject, relation, object, sign, negated, modality, value, valid, qualifiers, supersessions, rivals] = row;
    return {
      id,
      subject: ends[subject]!,
      relation: this.relations[relation] ?? UNKNOWN,
      object: ends[object]!,
      sign,
      negated: negated === 1,
      modality: MODALITIES[modality] ?? "asserted",
      value: value
        ? { number: value[0], unit: value[1], scale: value[2], change: value[3], basis: value[4], high: value[5] }
        : null,
      valid: valid ? { text: valid[0], start: valid[1], end: valid[2] } : null,
      qualifiers: qualifiers ?? {},
      supersessions: supersessions ?? [],
      rivals: rivals ?? [],
      evidence: evidence.map(([doc, start, end, speaker, confidence]) => ({
        doc: docs[doc]!, start, end, speaker: speakers[speaker] ?? "", confidence,
      })),
    };
  }
}

/** Return what holds on a day in a history of `[day, what holds from then on]`. */
export function at<T>(history: [number, T][], day: number): T | undefined {
  let found: T | undefined;
  for (const [from, what] of history) if (from <= day) found = what;
  return found;
}

/** Return a fact as of a day, or null if nothing was published by then: neither facts nor supersessions leak from later. */
export function see(fact: Fact, asOf: number): VisibleFact | null {
  const evidence = fact.evidence.filter((item) => item.doc.day <= asOf);
  if (!evidence.length) return null;
  const days = evidence.map((item) => item.doc.day);
  return {
    fact,
    evidence,
    closedBy: at(fact.supersessions, asOf) ?? "",
    confidence: Math.max(...evidence.map((item) => item.confidence)),
    first: Math.min(...days),
    last: Math.max(...days),
  };
}

/** Return the name an entity had on a day. */
export function nameAt(entity: Entity, asOf: number): string {
  return at(entity.renamed, asOf) ?? (entity.renamed.length ? entity.renamed[0]![1] : entity.name);
}

/** Count the independent sources of evidence as of a day; copies of one text count once. */
export function independent(evidence: Evidence[], asOf: number): number {
  return new Set(evidence.map((item) => at(item.doc.copies, asOf) ?? item.doc.id)).size;
}

/** Return the probability that at least one document was read correctly. */
export function certainty(evidence: Evidence[]): number {
  const doubts = new Map<string, number>();
  for (const item of evidence) {
    doubts.set(item.doc.id, Math.min(doubts.get(item.doc.id) ?? 1, 1 - item.confidence));
  }
  let doubt = 1;
  for (const each of doubts.values()) doubt *= each;
  return 1 - doubt;
}

export function iso(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

export function dayOf(text: string): number | null {
  const stamp = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(stamp) ? Math.round(stamp / 86_400_000) : null;
}

/** Cut a text by characters as Python counts them: one for each code point. */
export function cut(text: string, start: number, end: number): string {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text).slice(start, end).join("") : text.slice(start, end);
}
