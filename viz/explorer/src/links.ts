/** Links: the facts of one relation and sign between two entities, as of a day and through the reader's filters. */

import type { Entity, Evidence, Fact, Records, Relation, VisibleFact, WirePicture } from "./data";
import { at, certainty, independent, see } from "./data";
import type { Key } from "./words";

export interface ViewFilter {
  asOf: number;
  /** the day to compare with, or null */
  since: number | null;
  relations: Set<string>;
  kinds: Set<string>;
  modalities: Set<string>;
  speakers: Set<string>;
  /** the least certainty of all links; null: what answers use, by relation */
  certainty: number | null;
  /** whether links too unsure for answers are drawn, as such */
  weak: boolean;
  /** whether contested links alone are shown */
  disputed: boolean;
  sources: number;
  age: number;
  from: number | null;
  to: number | null;
  hidden: Set<string>;
  pinned: Set<string>;
}

export interface Link {
  key: string;
  subject: Entity;
  relation: Relation;
  object: Entity;
  sign: number;
  negated: boolean;
  seen: VisibleFact[];
  strength: number;
  certainty: number;
  sources: number;
  first: number;
  last: number;
  modality: string;
  contested: boolean;
  weak: boolean;
  isNew: boolean;
  ended: boolean;
}

export type Line = [tone: string, key: Key, dash: string];

const LINES: [...Line, drawn: (link: Link) => boolean][] = [
  ["plus", "same", "", (link) => link.sign > 0],
  ["minus", "opposite", "", (link) => link.sign < 0],
  ["neutral", "structure", "", (link) => !link.sign],
  ["neutral", "uncertain", "4 3", (link) => link.modality !== "asserted"],
  ["neutral", "unsure", "1 3", (link) => link.weak],
  ["denied", "negated", "2 4", (link) => link.negated],
  ["contested", "contested_mark", "", (link) => link.contested],
];

/** Return the kinds of lines that some links are drawn as, for a legend. */
export function linesOf(links: Link[]): Line[] {
  return LINES.filter(([, , , drawn]) => links.some(drawn)).map(([tone, key, dash]) => [tone, key, dash]);
}

const MODALITY_FACTORS: Record<string, number> = {
  asserted: 1, forecast: 0.7, planned: 0.6, conditional: 0.5, rumoured: 0.3,
};
export const UNIT = "\u001f";

export function isPictured(relation: Relation): boolean {
  return relation.family !== "measured";
}

/** Return the links around an entity, strongest first. */
export function linksOf(records: Records, id: string, filters: ViewFilter): Link[] {
  const groups = new Map<string, VisibleFact[]>();
  for (const seen of records.seen(id, filters.asOf, filters.since !== null)) {
    if (!isPictured(seen.fact.relation) || !passes(seen, filters, id)) continue;
    const key = keyOf(seen.fact);
    const group = groups.get(key);
    if (group) group.push(seen);
    else groups.set(key, [seen]);
  }
  const found: Link[] = [];
  for (const [key, group] of groups) {
    const link = linkOf(records, key, group, filters);
    if (link) found.push(link);
  }
  return found.sort((one, other) => other.strength - one.strength || (one.key < other.key ? -1 : 1));
}

export function keyOf(fact: Fact): string {
  return [fact.subject.id, fact.relation.name, fact.object.id, fact.negated ? "no" : String(fact.sign)].join(UNIT);
}

/** Facts of the links of answers by key: an answer may draw facts of several names of one topic as one link. */
const answered = new Map<string, [WirePicture, number]>();

/** Return the links of an answer that are visible and pass the filters. */
export function linksIn(records: Records, picture: WirePicture, filters: ViewFilter): Link[] {
  const found: Link[] = [];
  picture.links.forEach((_, row) => {
    const link = linkIn(records, picture, row, filters);
    if (link) found.push(link);
  });
  return found;
}

/** Return a link of an answer, or null if the filters leave nothing of it. */
export function linkIn(records: Records, picture: WirePicture, row: number, filters: ViewFilter): Link | null {
  const [from, relation, into, sign, denied, weight, ids, weak] = picture.links[row]!;
  const subject = records.entities.get(picture.ids[from]!);
  const object = records.entities.get(picture.ids[into]!);
  if (!subject || !object) return null;
  const facts = ids.map((id) => records.facts.get(id)).filter((fact): fact is Fact => !!fact);
  const pinned = filters.pinned.has(subject.id) || filters.pinned.has(object.id);
  const group = facts.map((fact) => see(fact, filters.asOf)).filter((seen): seen is VisibleFact => !!seen && (pinned || stated(seen, filters)));
  const key = [subject.id, relation, object.id, denied ? "no" : String(sign)].join(UNIT);
  answered.set(key, [picture, row]);
  const link = group.length ? linkOf(records, key, group, filters, true) : null;
  return link && { ...link, subject, object, strength: weight, weak: weak === 1 };
}

/** Return one link by its key, or undefined if nothing of it is visible. */
export function linkByKey(records: Records, key: string, filters: ViewFilter): Link | undefined {
  const [subject = ""] = key.split(UNIT);
  const bare = { ...filters, hidden: new Set<string>(), since: filters.since ?? filters.asOf, weak: true };
  const known = answered.get(key);
  const link = known && linkIn(records, ...known, bare);
  if (link) return link;
  return linksOf(records, subject, bare).find((link) => link.key === key);
}

export function other(link: Link, id: string): Entity {
  return link.subject.id === id ? link.object : link.subject;
}

function passes(seen: VisibleFact, filters: ViewFilter, id: string): boolean {
  const { fact } = seen;
  const end = fact.subject.id === id ? fact.object : fact.subject;
  if (filters.hidden.has(end.id)) return false;
  if (filters.pinned.has(end.id)) return true;
  if (filters.kinds.size && !filters.kinds.has(end.kind)) return false;
  return stated(seen, filters);
}

/** Whether a fact passes the filters on what is stated, by whom and for when. */
function stated(seen: VisibleFact, filters: ViewFilter): boolean {
  const { fact } = seen;
  if (filters.relations.size && !filters.relations.has(fact.relation.name)) return false;
  if (filters.modalities.size && !filters.modalities.has(fact.modality)) return false;
  if (filters.speakers.size && !seen.evidence.some((item) => filters.speakers.has(item.doc.publisher))) return false;
  return inPeriod(fact, seen.first, filters);
}

export function inPeriod(fact: Fact, first: number, filters: ViewFilter): boolean {
  if (filters.from === null && filters.to === null) return true;
  const start = fact.valid ? fact.valid.start : first;
  const end = fact.valid ? fact.valid.end : null;
  return (filters.to === null || start === null || start <= filters.to) && (filters.from === null || end === null || end > filters.from);
}

/** Return a link of some facts, or null if it is not visible; `given` by an answer that found it sure enough. */
function linkOf(records: Records, key: string, group: VisibleFact[], filters: ViewFilter, given = false): Link | null {
  const live = group.filter((seen) => !seen.closedBy);
  const closed = group.filter((seen) => seen.closedBy && wasLive(seen, filters.since));
  const shown = live.length ? live : closed;
  const pinned = shown.some(({ fact }) => filters.pinned.has(fact.subject.id) || filters.pinned.has(fact.object.id));
  if (!shown.length) return null;
  const evidence: Evidence[] = shown.flatMap((seen) => seen.evidence);
  const sure = certainty(evidence);
  const sources = independent(evidence, filters.asOf);
  const contested = live.some((seen) => rivals(records, seen, filters.asOf).length > 0);
  const first = Math.min(...shown.map((seen) => seen.first));
  const last = Math.max(...shown.map((seen) => seen.last));
  if (!pinned) {
    const { cut, weak } = group[0]!.fact.relation;
    const least = filters.certainty ?? (given ? 0 : filters.weak ? weak : cut);
    if (sure < least || sources < filters.sources) return null;
    if (filters.age && filters.asOf - last > filters.age) return null;
    if (filters.disputed && !contested) return null;
  }
  const leading = shown.reduce((best, seen) => (weight(seen, filters) > weight(best, filters) ? seen : best));
  const { fact } = leading;
  return {
    key,
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    sign: fact.sign,
    negated: fact.negated,
    seen: [...shown].sort((one, another) => weight(another, filters) - weight(one, filters)),
    strength: shown.reduce((sum, seen) => sum + weight(seen, filters), 0),
    certainty: sure,
    sources,
    first,
    last,
    modality: fact.modality,
    contested,
    weak: !given && sure < fact.relation.cut,
    isNew: filters.since !== null && first > filters.since,
    ended: !live.length,
  };
}

function wasLive(seen: VisibleFact, since: number | null): boolean {
  return since !== null && seen.first <= since && !at(seen.fact.supersessions, since);
}

function weight(seen: VisibleFact, filters: ViewFilter): number {
  const { relation, valid, modality } = seen.fact;
  const fresh = Math.max(seen.last, valid?.end ?? 0);
  const age = Math.max(0, filters.asOf - fresh);
  const sources = independent(seen.evidence, filters.asOf);
  return sources * seen.confidence * relation.weight * (MODALITY_FACTORS[modality] ?? 1) * 0.5 ** (age / relation.half_life);
}

/** Return the loaded statements that contradict a live one as of a day. */
export function rivals(records: Records, seen: VisibleFact, asOf: number): VisibleFact[] {
  const found: VisibleFact[] = [];
  for (const id of seen.fact.rivals) {
    const fact = records.facts.get(id);
    const against = fact && see(fact, asOf);
    if (!against || against.closedBy) continue;
    // A house that gives a new number has revised its old one.
    if (fact.relation.role === "figure" && sharesSpeaker(seen, against)) continue;
    found.push(against);
  }
  return found;
}

function sharesSpeaker(one: VisibleFact, another: VisibleFact): boolean {
  const speakers = new Set(one.evidence.map((item) => item.speaker).filter(Boolean));
  return another.evidence.some((item) => speakers.has(item.speaker));
}
