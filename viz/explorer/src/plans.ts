/** What a picture shows: columns of sections of items, and the links between them. */

import type { Entity, Records, WirePicture } from "./data";
import { iso } from "./data";
import type { Link, ViewFilter } from "./links";
import { linkIn, linksIn, linksOf, other } from "./links";
import { modalityText, notesOf, sharesOf } from "./claims";
import type { Key } from "./words";
import { isKey, t } from "./words";

export interface Item {
  key: string;
  entity: Entity;
  note: string;
  /** +1 or −1: where it moves when the topic rises */
  move: number;
  inset: boolean;
  /** only facts below the cut put it here */
  weak: boolean;
  strong: boolean;
}

export interface Section {
  id: string;
  title: string;
  items: Item[];
  more: number;
}

export interface Column {
  index: number;
  caption: string;
  sections: Section[];
}

export interface Plan {
  columns: Column[];
  links: Link[];
  /** companies listed under a stage need no line to it */
  nested: Set<string>;
  /** the section in which a link ends, where its end is listed in several */
  homes: Map<string, string>;
  left: number;
}

export type Place = [column: number, section: Key];

const ABOVE: Key[] = ["owners"];
const FOLDED = 7;
const UNFOLDED = 60;
export const BUDGET = 12;
/** the sections of a company's picture that are shown even if nothing is known */
const RESERVED: [number, Key][] = [[-1, "suppliers"], [1, "customers"], [0, "rivals"]];

/** Return the column and section of the other end of a link in a picture of an entity. */
export function placeOf(link: Link, id: string): Place {
  const subject = link.object.id === id && link.subject.id !== id;
  return (link.relation.places[subject ? 0 : 1] ?? [0, "others"]) as Place;
}

class Builder {
  readonly columns = new Map<number, Map<string, Section>>();
  readonly places = new Map<string, number>();
  readonly captions = new Map<number, string>();
  readonly homes = new Map<string, string>();
  private readonly folded = new Map<string, Set<string>>();
  left = 0;

  constructor(private readonly filters: ViewFilter, private readonly open: Set<string>) {}

  has(id: string): boolean {
    return this.places.has(id);
  }

  add(column: number, id: string, title: string, item: Item, limit = FOLDED): boolean {
    if (this.filters.hidden.has(item.entity.id)) return false;
    const sections = this.columns.get(column) ?? new Map<string, Section>();
    this.columns.set(column, sections);
    const section = sections.get(id) ?? { id, title, items: [], more: 0 };
    sections.set(id, section);
    if (section.items.some((each) => each.entity.id === item.entity.id)) return true;
    const room = this.open.has(id) ? UNFOLDED : limit;
    if (section.items.length >= room && !this.filters.pinned.has(item.entity.id)) {
      const folded = this.folded.get(id) ?? new Set<string>();
      this.folded.set(id, folded.add(item.entity.id));
      section.more = folded.size;
      return false;
    }
    section.items.push(item);
    if (!this.places.has(item.entity.id)) this.places.set(item.entity.id, column);
    return true;
  }

  /** Give a section a place even if nothing is known for it. */
  reserve(column: number, section: Key): void {
    const sections = this.columns.get(column) ?? new Map<string, Section>();
    this.columns.set(column, sections);
    sections.set(section, { id: section, title: t(section), items: [], more: 0 });
  }

  /** Say in the headings of suppliers and customers that no share is stated, where none is. */
  shares(stated: Set<string>): void {
    for (const key of ["suppliers", "customers"] as Key[]) {
      for (const sections of this.columns.values()) {
        const section = sections.get(key);
        if (section?.items.length && !stated.has(key)) section.title = `${t(key)}（${t("no_share")}）`;
      }
    }
  }

  plan(links: Link[], nested: Set<string>): Plan {
    const columns = [...this.columns.entries()].sort(([one], [another]) => one - another);
    return {
      columns: columns.map(([index, sections]) => ({
        index, caption: this.captions.get(index) ?? "", sections: [...sections.values()].map(statedOrNot),
      })),
      links,
      nested,
      homes: this.homes,
      left: this.left,
    };
  }
}

function statedOrNot(section: Section): Section {
  return section.items.length || section.more ? section : { ...section, title: `${section.title}：${t("none_stated")}` };
}

function item(entity: Entity, note = "", more: Partial<Item> = {}): Item {
  return { key: entity.id, entity, note, move: 0, inset: false, weak: false, strong: false, ...more };
}

/** What a box says of the link that put it there; of a supply also the day on which it was last stated. */
function noteOf(link: Link, from: string): string {
  const stated = link.seen.map(({ fact }) => [...notesOf(fact, from), modalityText(fact)].filter(Boolean)).find((notes) => notes.length) ?? [];
  return [...stated, link.relation.role === "supply" ? iso(link.last) : ""].filter(Boolean).join(" · ");
}

/** Suppliers by their share of the customer's cost or of their own revenue, where one is stated; then by strength. */
function byShare(links: Link[]): Link[] {
  const share = ({ seen, relation }: Link) => relation.role !== "supply" ? 0 : Math.max(0, ...seen.flatMap(({ fact }) => [fact.qualifiers.revenue_share, fact.qualifiers.cost_share].map((text) => parseFloat(text ?? "") || 0)));
  return [...links].sort((one, two) => share(two) - share(one));
}

/** The neighbourhood of one entity: what comes before on the left, after on the right, owners above, peers below. */
export function profilePlan(records: Records, entity: Entity, filters: ViewFilter, open: Set<string>, expanded: string[]): Plan {
  const builder = new Builder(filters, open);
  const links = byShare(linksOf(records, entity.id, filters));
  const drawn: Link[] = [];
  const place = (wanted: (section: Key, column: number) => boolean) => {
    for (const link of links) {
      const [column, section] = placeOf(link, entity.id);
      if (!wanted(section, column)) continue;
      if (!builder.add(column, section, t(section), item(other(link, entity.id), noteOf(link, entity.id)))) continue;
      drawn.push(link);
      builder.homes.set(link.key, section);
    }
  };
  place((section) => ABOVE.includes(section));
  builder.add(0, "self", "", item(entity, entity.code, { strong: true }));
  if (entity.kind === "company") for (const [column, section] of RESERVED) builder.reserve(column, section);
  for (const section of ["rivals", "peers", "products", "makers", "components", "industries", "regions", "others"] as Key[]) {
    place((each, column) => column === 0 && each === section);
  }
  place((_, column) => column !== 0);
  if (entity.kind === "company") builder.shares(new Set(links.filter((link) => sharesOf(link, entity.id).length).map((link) => placeOf(link, entity.id)[1])));
  // the heading of a section below the entity has the text of a line to it
  const said = drawn.filter((link) => placeOf(link, entity.id)[0] === 0 && !link.sign && !link.contested && !link.negated && !link.ended && !link.isNew && !link.weak);
  grow(records, builder, filters, expanded, drawn);
  return builder.plan(unique(drawn), new Set(said.map((link) => link.key)));
}

/** Add the strongest neighbours of expanded entities next to them, within a budget each. */
function grow(records: Records, builder: Builder, filters: ViewFilter, expanded: string[], drawn: Link[]): void {
  for (const id of expanded) {
    const column = builder.places.get(id);
    const entity = records.entities.get(id);
    if (column === undefined || !entity) continue;
    let added = 0;
    for (const link of linksOf(records, id, filters)) {
      const end = other(link, id);
      if (builder.has(end.id)) {
        drawn.push(link);
      } else if (added < BUDGET) {
        const [side, section] = placeOf(link, id);
        const title = `${entity.name} · ${t(section)}`;
        if (builder.add(column + side, `${id}:${section}`, title, item(end, noteOf(link, id)), BUDGET)) {
          drawn.push(link);
          added += 1;
        }
      } else {
        builder.left += 1;
      }
    }
  }
}

function unique(links: Link[]): Link[] {
  return [...new Map(links.map((link) => [link.key, link])).values()];
}

const FULL_STAGES = 10;
const COMPANIES = 5;
const CAUSAL_EACH = 10;

/**
 * The answer to a question as kg/query gave it, through the reader's filters: what is filtered, not yet published or hidden
 * is left out, and nothing else is reckoned here.
 */
export function answerPlan(records: Records, pictures: WirePicture[], filters: ViewFilter, open: Set<string>, expanded: string[]): Plan {
  const builder = new Builder(filters, open);
  const links = new Map<string, Link>();
  const nested = new Set<string>();
  for (const picture of pictures) for (const link of linksIn(records, picture, filters)) links.set(link.key, link);
  const tied = new Set([...links.values()].flatMap((link) => [link.subject.id, link.object.id]));
  const topics = new Set(pictures.flatMap((picture) => picture.topics));
  for (const picture of pictures) {
    const linked = new Set(picture.links.flatMap((link) => [link[0], link[2]]));
    for (const [step, title, sections] of picture.columns) {
      if (title) builder.captions.set(step, `${isKey(title) ? t(title) : title}${Math.abs(step) > 1 && title !== "unplaced" ? ` ${Math.abs(step)}` : ""}`);
      sections.forEach(([id, heading, items], row) => {
        const [first] = items;
        if (first && !first[4] && items.some((each) => each[4])) {
          const stage = picture.ids[first[0]]!;
          for (const each of items) if (each[4]) nested.add(`${picture.ids[each[0]]!} ${stage}`);
        }
        const limit = items.some((each) => each[4]) ? 1 + (row < FULL_STAGES ? COMPANIES : 0) : CAUSAL_EACH;
        for (const [place, move, basis, topic, inset, weak] of items) {
          const entity = records.entities.get(picture.ids[place]!);
          if (!entity || !(topic || tied.has(entity.id) || !linked.has(place))) continue;
          if (filters.kinds.size && !filters.kinds.has(entity.kind) && !topics.has(entity.id) && !filters.pinned.has(entity.id)) continue;
          const key = inset ? `${id}/${entity.id}` : entity.id;
          const note = inset ? entity.code : isKey(`basis_${basis}`) ? t(`basis_${basis}` as Key) : topic ? entity.code : "";
          builder.add(step, id, isKey(heading) ? t(heading) : "", item(entity, note, { key, move, inset: inset === 1, weak: weak === 1, strong: topic === 1 || (!inset && id.startsWith("stage:")) }), limit);
        }
      });
    }
  }
  builder.left = pictures[0]?.left ?? 0;
  const drawn = [...links.values()].filter((link) => builder.has(link.subject.id) && builder.has(link.object.id));
  if (filters.weak) drawn.push(...weakAmong(records, builder, filters, links));
  grow(records, builder, filters, expanded, drawn);
  // a stage of the topic is in its column: a line would only repeat that
  const member = (link: Link) => link.relation.family === "structure" && topics.has(link.object.id);
  const chained = pictures.some((picture) => picture.kind === "chain");
  const inside = new Set(drawn.filter((link) => nested.has(`${link.subject.id} ${link.object.id}`) || (chained && member(link))).map((link) => link.key));
  return builder.plan(unique(drawn), inside);
}

/** Return the links between what is drawn that are too unsure for an answer. */
function weakAmong(records: Records, builder: Builder, filters: ViewFilter, known: Map<string, Link>): Link[] {
  const found: Link[] = [];
  for (const id of builder.places.keys()) {
    for (const link of linksOf(records, id, { ...filters, weak: true })) {
      if (link.weak && link.subject.id === id && builder.has(link.object.id) && !known.has(link.key)) found.push(link);
    }
  }
  return found;
}

/** Return the ids of what a plan shows. */
export function idsOf(plan: Plan): Set<string> {
  return new Set(plan.columns.flatMap(({ sections }) => sections.flatMap(({ items }) => items.map(({ entity }) => entity.id))));
}

/** Count the links between what is shown that are too unsure to be drawn. */
export function countWeak(records: Records, shown: Set<string>, links: Link[], filters: ViewFilter): number {
  const drawn = new Set(links.map((link) => link.key));
  let count = 0;
  for (const id of shown) {
    for (const link of linksOf(records, id, { ...filters, weak: true })) {
      if (link.weak && link.subject.id === id && shown.has(link.object.id) && !drawn.has(link.key)) count += 1;
    }
  }
  return count;
}

export interface ShownPath {
  links: Link[];
  end: Entity;
  side: number;
  sign: number;
  weakest: Link;
  /** of who gains or pays: stated, mirrored or inferred */
  basis: string;
}

/** Return the paths of an answer whose links are all visible; of a factor, the end that is not the factor. */
export function pathsOf(records: Records, picture: WirePicture, filters: ViewFilter): ShownPath[] {
  const visible = picture.links.map((_, row) => linkIn(records, picture, row, filters));
  const roots = new Set(picture.columns.filter(([step]) => step === 0).flatMap(([, , sections]) => sections.flatMap(([, , items]) => items.map(([place]) => place))));
  const found: ShownPath[] = [];
  for (const [nodes, rows, sign] of picture.paths) {
    const links = rows.map((row) => visible[row]).filter((link): link is Link => !!link);
    const first = nodes[0]!;
    const last = nodes.at(-1)!;
    const back = picture.kind === "factor" && !roots.has(first);
    const end = records.entities.get(picture.ids[back ? first : last]!);
    if (!end || links.length < rows.length || !links.length) continue;
    const weakest = links.reduce((least, each) => (each.certainty < least.certainty ? each : least));
    found.push({ links, end, side: back ? -1 : 1, sign, weakest, basis: "stated" });
  }
  return found;
}

/** Return the paths, and who gains and pays without being on one; `direction` is that of the factor. */
export function outcomesOf(records: Records, picture: WirePicture, filters: ViewFilter, direction: number): ShownPath[] {
  const found = pathsOf(records, picture, filters);
  const parties = partiesOf(records, picture, filters, direction);
  const alike = (one: ShownPath, two: ShownPath) => one.end === two.end && one.sign === two.sign && one.side > 0;
  const named = found.map((path) => { const party = parties.find((each) => alike(path, each)); return party ? { ...path, side: party.side, basis: party.basis } : path; });
  return [...named, ...parties.filter((each) => !found.some((path) => alike(path, each)))];
}

function partiesOf(records: Records, picture: WirePicture, filters: ViewFilter, direction: number): ShownPath[] {
  const visible = linksIn(records, picture, filters);
  return picture.columns.flatMap(([, , sections]) => sections.flatMap(([, heading, items]) => items.flatMap(([place, move, basis]): ShownPath[] => {
    const end = records.entities.get(picture.ids[place]!);
    if (!end || (heading !== "gains" && heading !== "losses")) return [];
    const near = visible.filter((link) => [link.subject.id, link.object.id].includes(end.id));
    const [weakest] = near.sort((one, two) => two.certainty - one.certainty);
    return weakest ? [{ links: [weakest], end, side: heading === "gains" ? 2 : 3, sign: move * direction, weakest, basis }] : [];
  })));
}

/** Return the links between some entities, each once. */
export function linksAmong(records: Records, members: string[], filters: ViewFilter): Link[] {
  const ids = new Set(members);
  return unique(members.flatMap((member) => linksOf(records, member, filters).filter((link) => ids.has(other(link, member).id))));
}

function ranked(members: Entity[], links: Link[]): Entity[] {
  const degree = new Map<string, number>();
  for (const link of links) for (const end of [link.subject.id, link.object.id]) degree.set(end, (degree.get(end) ?? 0) + link.strength);
  return [...members].sort((one, another) => (degree.get(another.id) ?? 0) - (degree.get(one.id) ?? 0) || (one.id < another.id ? -1 : 1));
}

const BY_KIND: [Key, string[]][] = [
  ["factors", ["event", "policy", "region", "indicator"]],
  ["products", ["product", "industry", "theme", "business"]],
  ["company", ["company", "institution", "person"]],
];

/** Some entities by kind, such as the members of a theme, with the links among them or those given. */
export function membersPlan(records: Records, members: Entity[], filters: ViewFilter, open: Set<string>, expanded: string[], { limit = 16, links = linksAmong(records, members.map(({ id }) => id), filters) } = {}): Plan {
  const builder = new Builder(filters, open);
  BY_KIND.forEach(([title, kinds], column) => {
    for (const member of ranked(members, links)) if (kinds.includes(member.kind)) builder.add(column, title, t(title), item(member, member.code), limit);
  });
  const shown = links.filter((link) => builder.has(link.subject.id) && builder.has(link.object.id));
  grow(records, builder, filters, expanded, shown);
  return builder.plan(unique(shown), new Set());
}

/** What one of two names has: its members or neighbours and their links; `nested` of a set that the name stands for. */
export interface Side {
  ids: string[];
  links: Link[];
  nested: boolean;
}

const OWN = 10;

/** What two names share in the middle, between the names and what of their own ties them to it. */
export function commonPlan(records: Records, names: Entity[], sides: Side[], filters: ViewFilter, open: Set<string>): Plan {
  const builder = new Builder(filters, open);
  const [one, two] = sides.map(({ ids }) => new Set(ids)) as [Set<string>, Set<string>];
  const both = [...one].filter((id) => two.has(id) && !names.some((name) => name.id === id));
  const links = unique(sides.flatMap((side) => side.links));
  const shared = ranked(both.map((id) => records.entities.get(id)).filter((each): each is Entity => !!each), links);
  for (const [title, kinds] of [...BY_KIND].reverse()) for (const each of shared) if (kinds.includes(each.kind)) builder.add(0, title, t(title === "company" ? "common_companies" : title), item(each, each.code), 16);
  const middle = new Set(both);
  sides.forEach((side, row) => {
    const column = row ? 1 : -1;
    const name = names[row]!;
    builder.add(column, `self:${row}`, "", item(name, name.code, { strong: true }));
    const mine = side.nested ? side.links.filter((link) => middle.has(link.subject.id) !== middle.has(link.object.id)) : [];
    const own = mine.map((link) => (middle.has(link.subject.id) ? link.object : link.subject)).filter(({ id }) => id !== name.id);
    for (const each of ranked([...new Set(own)], mine)) builder.add(column, `own:${row}`, "", item(each, each.code), OWN);
  });
  return builder.plan(links.filter((link) => builder.has(link.subject.id) && builder.has(link.object.id)), new Set());
}
