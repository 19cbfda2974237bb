/** Links: the facts of one relation and sign between two entities, as of a day and through the reader's filters. */

import type { Entity, Evidence, Fact, Records, Relation, Seen, WirePicture } from "./data";
import { at, certainty, independent, see } from "./data";

export interface Sight {
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
  seen: Seen[];
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

const MODALITY_FACTORS: Record<string, number> = {
  asserted: 1, forecast: 0.7, planned: 0.6, conditional: 0.5, rumoured: 0.3,
};
export const UNIT = "\u001f";

export function isPictured(relation: Relation): boolean {
  return relation.family !== "measured";
}

/** Return the links around an entity, strongest first. */
export function linksOf(records: Records, id: string, sight: Sight): Link[] {
  const groups = new Map<string, Seen[]>();
  for (const seen of records.seen(id, sight.asOf, sight.since !== null)) {
    if (!isPictured(seen.fact.relation) || !passes(seen, sight, id)) continue;
    const key = keyOf(seen.fact);
    const group = groups.get(key);
    if (group) group.push(seen);
    else groups.set(key, [seen]);
  }
  const found: Link[] = [];
  for (const [key, group] of groups) {
    const link = linkOf(records, key, group, sight);
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
export function linksIn(records: Records, picture: WirePicture, sight: Sight): Link[] {
  const found: Link[] = [];
  picture.links.forEach((_, row) => {
    const link = linkIn(records, picture, row, sight);
    if (link) found.push(link);
  });
  return found;
}

/** Return a link of an answer, or null if the filters leave nothing of it. */
export function linkIn(records: Records, picture: WirePicture, row: number, sight: Sight): Link | null {
  const [from, relation, into, sign, denied, weight, ids, weak] = picture.links[row]!;
  const subject = records.entities.get(picture.ids[from]!);
  const object = records.entities.get(picture.ids[into]!);
  if (!subject || !object) return null;
  const facts = ids.map((id) => records.facts.get(id)).filter((fact): fact is Fact => !!fact);
  const pinned = sight.pinned.has(subject.id) || sight.pinned.has(object.id);
  const group = facts.map((fact) => see(fact, sight.asOf)).filter((seen): seen is Seen => !!seen && (pinned || stated(seen, sight)));
  const key = [subject.id, relation, object.id, denied ? "no" : String(sign)].join(UNIT);
  answered.set(key, [picture, row]);
  const link = group.length ? linkOf(records, key, group, sight, true) : null;
  return link && { ...link, subject, object, strength: weight, weak: weak === 1 };
}

/** Return one link by its key, or undefined if nothing of it is visible. */
export function linkByKey(records: Records, key: string, sight: Sight): Link | undefined {
  const [subject = ""] = key.split(UNIT);
  const bare = { ...sight, hidden: new Set<string>(), since: sight.since ?? sight.asOf, weak: true };
  const known = answered.get(key);
  const link = known && linkIn(records, ...known, bare);
  if (link) return link;
  return linksOf(records, subject, bare).find((link) => link.key === key);
}

export function other(link: Link, id: string): Entity {
  return link.subject.id === id ? link.object : link.subject;
}

function passes(seen: Seen, sight: Sight, id: string): boolean {
  const { fact } = seen;
  const end = fact.subject.id === id ? fact.object : fact.subject;
  if (sight.hidden.has(end.id)) return false;
  if (sight.pinned.has(end.id)) return true;
  if (sight.kinds.size && !sight.kinds.has(end.kind)) return false;
  return stated(seen, sight);
}

/** Whether a fact passes the filters on what is stated, by whom and for when. */
function stated(seen: Seen, sight: Sight): boolean {
  const { fact } = seen;
  if (sight.relations.size && !sight.relations.has(fact.relation.name)) return false;
  if (sight.modalities.size && !sight.modalities.has(fact.modality)) return false;
  if (sight.speakers.size && !seen.evidence.some((item) => sight.speakers.has(item.doc.publisher))) return false;
  return inPeriod(fact, seen.first, sight);
}

export function inPeriod(fact: Fact, first: number, sight: Sight): boolean {
  if (sight.from === null && sight.to === null) return true;
  const start = fact.valid ? fact.valid.start : first;
  const end = fact.valid ? fact.valid.end : null;
  return (sight.to === null || start === null || start <= sight.to) && (sight.from === null || end === null || end > sight.from);
}

/** Return a link of some facts, or null if it is not visible; `given` by an answer that found it sure enough. */
function linkOf(records: Records, key: string, group: Seen[], sight: Sight, given = false): Link | null {
  const live = group.filter((seen) => !seen.closedBy);
  const closed = group.filter((seen) => seen.closedBy && wasLive(seen, sight.since));
  const shown = live.length ? live : closed;
  const pinned = shown.some(({ fact }) => sight.pinned.has(fact.subject.id) || sight.pinned.has(fact.object.id));
  if (!shown.length) return null;
  const evidence: Evidence[] = shown.flatMap((seen) => seen.evidence);
  const sure = certainty(evidence);
  const sources = independent(evidence, sight.asOf);
  const first = Math.min(...shown.map((seen) => seen.first));
  const last = Math.max(...shown.map((seen) => seen.last));
  if (!pinned) {
    const { cut, weak } = group[0]!.fact.relation;
    const least = sight.certainty ?? (given ? 0 : sight.weak ? weak : cut);
    if (sure < least || sources < sight.sources) return null;
    if (sight.age && sight.asOf - last > sight.age) return null;
  }
  const leading = shown.reduce((best, seen) => (weight(seen, sight) > weight(best, sight) ? seen : best));
  const { fact } = leading;
  return {
    key,
    subject: fact.subject,
    relation: fact.relation,
    object: fact.object,
    sign: fact.sign,
    negated: fact.negated,
    seen: [...shown].sort((one, another) => weight(another, sight) - weight(one, sight)),
    strength: shown.reduce((sum, seen) => sum + weight(seen, sight), 0),
    certainty: sure,
    sources,
    first,
    last,
    modality: fact.modality,
    contested: live.some((seen) => rivals(records, seen, sight.asOf).length > 0),
    weak: !given && sure < fact.relation.cut,
    isNew: sight.since !== null && first > sight.since,
    ended: !live.length,
  };
}

function wasLive(seen: Seen, since: number | null): boolean {
  return since !== null && seen.first <= since && !at(seen.fact.closings, since);
}

function weight(seen: Seen, sight: Sight): number {
  const { relation, valid, modality } = seen.fact;
  const fresh = Math.max(seen.last, valid?.end ?? 0);
  const age = Math.max(0, sight.asOf - fresh);
  const sources = independent(seen.evidence, sight.asOf);
  return sources * seen.confidence * relation.weight * (MODALITY_FACTORS[modality] ?? 1) * 0.5 ** (age / relation.half_life);
}

/** Return the loaded statements that contradict a live one as of a day. */
export function rivals(records: Records, seen: Seen, asOf: number): Seen[] {
  const found: Seen[] = [];
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

function sharesSpeaker(one: Seen, another: Seen): boolean {
  const speakers = new Set(one.evidence.map((item) => item.speaker).filter(Boolean));
  return another.evidence.some((item) => speakers.has(item.speaker));
}
