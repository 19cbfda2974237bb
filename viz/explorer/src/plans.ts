/** What a picture shows: columns of sections of items, and the links between them. */

import type { Entity, Records } from "./data";
import type { Link, Sight } from "./links";
import { linksOf, other } from "./links";
import { notesOf } from "./claims";
import type { Key } from "./words";
import { t } from "./words";

export interface Item {
  key: string;
  entity: Entity;
  note: string;
  /** +1 or −1: where it moves when the topic rises */
  move: number;
  inset: boolean;
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
  left: number;
}

type Place = [column: -1 | 0 | 1, section: Key];

const OUT: Record<string, [Place, Place]> = {
  // relation: where the other end stands if it is the subject, and if it is the object
  supplies: [[-1, "suppliers"], [1, "customers"]],
  uses: [[1, "used_by"], [-1, "uses"]],
  upstream_of: [[-1, "upstream"], [1, "downstream"]],
  part_of: [[-1, "components"], [1, "belongs"]],
  produces: [[0, "makers"], [0, "products"]],
  operates: [[0, "makers"], [0, "products"]],
  belongs_to: [[0, "components"], [0, "industries"]],
  subsidiary_of: [[1, "holdings"], [0, "owners"]],
  affects: [[-1, "causes"], [1, "effects"]],
};
const OWNING = new Set([
  "holds_stake_in", "acquires", "invests_in", "raises_stake_in", "cuts_stake_in", "funds", "founds", "transfers_to",
]);
const PEERS = new Set(["competes_with", "partners_with", "merges_with", "trades_with", "substitutes_for", "disputes_with"]);
const ABOVE: Key[] = ["owners"];
const FOLDED = 7;
const UNFOLDED = 60;
export const BUDGET = 12;

export function placeOf(link: Link, id: string): Place {
  const subject = link.object.id === id && link.subject.id !== id;
  const fixed = OUT[link.relation.name];
  if (fixed) return fixed[subject ? 0 : 1];
  if (OWNING.has(link.relation.name)) return subject ? [0, "owners"] : [1, "holdings"];
  if (PEERS.has(link.relation.name)) return [0, "peers"];
  return [0, "others"];
}

class Builder {
  readonly columns = new Map<number, Map<string, Section>>();
  readonly places = new Map<string, number>();
  readonly captions = new Map<number, string>();
  left = 0;

  constructor(private readonly sight: Sight, private readonly open: Set<string>) {}

  has(id: string): boolean {
    return this.places.has(id);
  }

  add(column: number, id: string, title: string, item: Item, limit = FOLDED): boolean {
    if (this.sight.hidden.has(item.entity.id)) return false;
    const sections = this.columns.get(column) ?? new Map<string, Section>();
    this.columns.set(column, sections);
    const section = sections.get(id) ?? { id, title, items: [], more: 0 };
    sections.set(id, section);
    if (section.items.some((each) => each.entity.id === item.entity.id)) return true;
    const room = this.open.has(id) ? UNFOLDED : limit;
    if (section.items.length >= room && !this.sight.pinned.has(item.entity.id)) {
      section.more += 1;
      return false;
    }
    section.items.push(item);
    if (!this.places.has(item.entity.id)) this.places.set(item.entity.id, column);
    return true;
  }

  plan(links: Link[], nested: Set<string>): Plan {
    const columns = [...this.columns.entries()].sort(([one], [another]) => one - another);
    return {
      columns: columns.map(([index, sections]) => ({
        index, caption: this.captions.get(index) ?? "", sections: [...sections.values()],
      })),
      links,
      nested,
      left: this.left,
    };
  }
}

function item(entity: Entity, note = "", more: Partial<Item> = {}): Item {
  return { key: entity.id, entity, note, move: 0, inset: false, strong: false, ...more };
}

function noteOf(link: Link): string {
  for (const seen of link.seen) {
    const notes = notesOf(seen.fact);
    if (notes.length) return notes.join(" · ");
  }
  return "";
}

/** The neighbourhood of one entity: what comes before on the left, after on the right, owners above, peers below. */
export function profilePlan(records: Records, entity: Entity, sight: Sight, open: Set<string>, expanded: string[]): Plan {
  const builder = new Builder(sight, open);
  const links = linksOf(records, entity.id, sight);
  const drawn: Link[] = [];
  const place = (wanted: (section: Key, column: number) => boolean) => {
    for (const link of links) {
      const [column, section] = placeOf(link, entity.id);
      if (!wanted(section, column)) continue;
      if (builder.add(column, section, t(section), item(other(link, entity.id), noteOf(link)))) drawn.push(link);
    }
  };
  place((section) => ABOVE.includes(section));
  builder.add(0, "self", "", item(entity, entity.code, { strong: true }));
  for (const section of ["products", "makers", "components", "industries", "peers", "others"] as Key[]) {
    place((each, column) => column === 0 && each === section);
  }
  place((_, column) => column !== 0);
  grow(records, builder, sight, expanded, drawn);
  return builder.plan(unique(drawn), new Set());
}

/** Add the strongest neighbours of expanded entities beside them, within a budget each. */
function grow(records: Records, builder: Builder, sight: Sight, expanded: string[], drawn: Link[]): void {
  for (const id of expanded) {
    const column = builder.places.get(id);
    const entity = records.entities.get(id);
    if (column === undefined || !entity) continue;
    let added = 0;
    for (const link of linksOf(records, id, sight)) {
      const end = other(link, id);
      if (builder.has(end.id)) {
        drawn.push(link);
      } else if (added < BUDGET) {
        const [side, section] = placeOf(link, id);
        const title = `${entity.name} · ${t(section)}`;
        if (builder.add(column + side, `${id}:${section}`, title, item(end, noteOf(link)), BUDGET)) {
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

const STAGES = new Set(["product", "industry"]);
const FLOWS = new Set(["upstream_of", "part_of"]);
const MAKERS = new Set(["produces", "operates", "belongs_to"]);
const BREADTH = 14;
const COMPANIES = 5;
const STAGES_EACH = 14;

/** Return the stages around a topic that flow into it (−1) or out of it (+1), strongest first. */
export function flows(records: Records, id: string, side: -1 | 1, sight: Sight): [Entity, Link][] {
  const found: [Entity, Link][] = [];
  for (const link of linksOf(records, id, sight)) {
    if (link.negated || !FLOWS.has(link.relation.name)) continue;
    const end = other(link, id);
    if ((side < 0 ? link.object.id : link.subject.id) === id && STAGES.has(end.kind)) found.push([end, link]);
  }
  return found.slice(0, BREADTH);
}

/** Return the products and industries that a topic consists of, or that a company makes. */
export function within(records: Records, entity: Entity, sight: Sight): [Entity, Link][] {
  const company = !STAGES.has(entity.kind) && entity.kind !== "theme";
  const found: [Entity, Link][] = [];
  for (const link of linksOf(records, entity.id, sight)) {
    const inward = link.object.id === entity.id;
    const fits = company ? !inward && MAKERS.has(link.relation.name) : inward && link.relation.name === "belongs_to";
    if (fits && !link.negated && STAGES.has(other(link, entity.id).kind)) found.push([other(link, entity.id), link]);
  }
  return found.slice(0, company ? COMPANIES : BREADTH);
}

export function makersOf(records: Records, id: string, sight: Sight): [Entity, Link][] {
  const found = new Map<string, [Entity, Link]>();
  for (const link of linksOf(records, id, sight)) {
    if (link.negated || link.object.id !== id || !MAKERS.has(link.relation.name)) continue;
    if (link.subject.kind === "company" && !found.has(link.subject.id)) found.set(link.subject.id, [link.subject, link]);
  }
  return [...found.values()];
}

export interface ChainStage {
  entity: Entity;
  layer: number;
  makers: [Entity, Link][];
  strength: number;
}

/** Return the stages of a topic's chain as of the day, and the flows between them. */
export function chainStages(records: Records, roots: Entity[], sight: Sight, depth: number): { stages: ChainStage[]; flows: Link[] } {
  const layers = new Map<string, number>();
  const drawn: Link[] = [];
  const known = (id: string) => records.entities.get(id)!;
  for (const root of roots) {
    const inner = within(records, root, sight);
    if (STAGES.has(root.kind) || root.kind === "theme") layers.set(root.id, 0);
    for (const [entity, link] of inner) {
      layers.set(entity.id, 0);
      if (root.kind !== "company") drawn.push(link);
    }
  }
  const core = [...layers.keys()];
  for (const side of [-1, 1] as const) {
    let frontier = core;
    for (let level = 1; level <= depth; level++) {
      const next: string[] = [];
      for (const id of frontier) {
        for (const [entity, link] of flows(records, id, side, sight)) {
          drawn.push(link);
          if (!layers.has(entity.id)) {
            layers.set(entity.id, side * level);
            next.push(entity.id);
          }
        }
      }
      frontier = next;
    }
  }
  const strength = new Map<string, number>();
  for (const link of drawn) {
    for (const end of [link.subject.id, link.object.id]) strength.set(end, (strength.get(end) ?? 0) + link.strength);
  }
  const stages = [...layers].map(([id, layer]) => {
    const makers = makersOf(records, id, sight);
    return { entity: known(id), layer, makers, strength: (strength.get(id) ?? 0) + makers.length / 10 };
  });
  const first = (stage: ChainStage) => (roots.some((root) => root.id === stage.entity.id) ? 0 : 1);
  stages.sort((one, another) => one.layer - another.layer || first(one) - first(another) || one.layer - another.layer || another.strength - one.strength || (one.entity.id < another.entity.id ? -1 : 1));
  return { stages, flows: unique(drawn) };
}

/** Swim lanes of stages from left to right, each with its companies. */
export function chainPlan(records: Records, roots: Entity[], sight: Sight, open: Set<string>, expanded: string[], depth: number): Plan {
  const { stages, flows: between } = chainStages(records, roots, sight, depth);
  const builder = new Builder(sight, open);
  const drawn: Link[] = [];
  const nested = new Set<string>();
  const counts = new Map<number, number>();
  const ids = new Set(roots.map((root) => root.id));
  for (const stage of stages) {
    const count = (counts.get(stage.layer) ?? 0) + 1;
    counts.set(stage.layer, count);
    if (count > (open.has(`lane:${stage.layer}`) ? UNFOLDED : STAGES_EACH) && !ids.has(stage.entity.id)) {
      builder.left += 1;
      continue;
    }
    const strong = ids.has(stage.entity.id);
    const section = `stage:${stage.entity.id}`;
    if (!builder.add(stage.layer, section, "", item(stage.entity, "", { strong: true, note: strong ? "●" : "" }), 1 + COMPANIES)) continue;
    for (const [company, link] of stage.makers) {
      const key = `${stage.entity.id}/${company.id}`;
      if (builder.add(stage.layer, section, "", item(company, company.code, { key, inset: true }), 1 + COMPANIES)) {
        drawn.push(link);
        nested.add(link.key);
      }
    }
  }
  const layers = stages.map((stage) => stage.layer);
  for (let layer = Math.min(0, ...layers); layer <= Math.max(0, ...layers); layer++) {
    const side = layer < 0 ? "upstream" : layer > 0 ? "downstream" : "midstream";
    builder.captions.set(layer, `${t(side)}${Math.abs(layer) > 1 ? ` ${Math.abs(layer)}` : ""}`);
  }
  drawn.push(...between.filter((link) => builder.has(link.subject.id) && builder.has(link.object.id)));
  grow(records, builder, sight, expanded, drawn);
  return builder.plan(unique(drawn), nested);
}

const CAUSAL_EACH = 10;
const ENDS_EACH = 3;

/** Return the causal links that leave an entity (+1) or lead to it (−1), strongest first. */
export function causal(records: Records, id: string, side: -1 | 1, sight: Sight): Link[] {
  const found = linksOf(records, id, sight).filter((link) => {
    const end = side > 0 ? link.subject.id : link.object.id;
    return link.relation.name === "affects" && !link.negated && end === id && link.subject.id !== link.object.id;
  });
  return found.slice(0, CAUSAL_EACH);
}

export interface CausalPath {
  links: Link[];
  end: Entity;
  sign: number;
  weakest: Link;
}

/** Return signed paths from an entity (+1: effects, −1: causes), the strongest first. */
export function causalPaths(records: Records, entity: Entity, side: -1 | 1, sight: Sight, hops: number): CausalPath[] {
  let beam: { links: Link[]; ids: string[]; sign: number }[] = [{ links: [], ids: [entity.id], sign: 1 }];
  const found: CausalPath[] = [];
  for (let hop = 0; hop < hops; hop++) {
    const next: typeof beam = [];
    for (const walk of beam) {
      for (const link of causal(records, walk.ids.at(-1)!, side, sight)) {
        const end = side > 0 ? link.object : link.subject;
        if (walk.ids.includes(end.id) || sight.hidden.has(end.id)) continue;
        const longer = { links: [...walk.links, link], ids: [...walk.ids, end.id], sign: walk.sign * (link.sign || 1) };
        next.push(longer);
        const weakest = longer.links.reduce((least, each) => (each.strength < least.strength ? each : least));
        found.push({ links: longer.links, end, sign: longer.sign, weakest });
      }
    }
    next.sort((one, another) => least(another.links) - least(one.links));
    beam = next.slice(0, 40);
  }
  return found.sort((one, another) => one.links.length - another.links.length || another.weakest.strength - one.weakest.strength);
}

function least(links: Link[]): number {
  return Math.min(...links.map((link) => link.strength));
}

/** Causes on the left, effects on the right, of a factor under all of its names: a product speaks through its price. */
export function factorPlan(records: Records, roots: Entity[], sight: Sight, open: Set<string>, expanded: string[], hops: number): Plan {
  const builder = new Builder(sight, open);
  const drawn: Link[] = [];
  for (const root of roots) builder.add(0, "self", "", item(root, root.code, { strong: true }));
  const paths = roots.flatMap((root) => ([-1, 1] as const).flatMap((side) => causalPaths(records, root, side, sight, hops).map((path) => ({ path, side }))));
  for (const { path, side } of paths.sort((one, another) => one.path.links.length - another.path.links.length)) {
    const drawable = (links: Link[]) => links.every((link) => builder.has(link.subject.id) && builder.has(link.object.id));
    if (builder.has(path.end.id)) {
      if (drawable(path.links)) drawn.push(...path.links);
      continue;
    }
    const hop = path.links.length;
    const title = hop === 1 ? t(side < 0 ? "causes" : "effects") : "";
    const placed = drawable(path.links.slice(0, -1)) && builder.add(side * hop, `${side}:${hop}`, title, item(path.end, "", { move: path.sign }), CAUSAL_EACH);
    if (placed) drawn.push(...path.links);
  }
  const ends = Math.max(...builder.places.values()) + 1;
  for (const [id, column] of [...builder.places]) {
    const entity = records.entities.get(id);
    if (column < 1 || !entity || !STAGES.has(entity.kind)) continue;
    for (const [company, link] of makersOf(records, id, sight).slice(0, ENDS_EACH)) {
      const known = builder.has(company.id);
      if (known || builder.add(ends, "ends", t("ends_in"), item(company, company.code), 2 * CAUSAL_EACH)) drawn.push(link);
    }
  }
  grow(records, builder, sight, expanded, drawn);
  return builder.plan(unique(drawn), new Set());
}

/** The shortest ways between two entities through what is loaded, at most a few. */
export function pathPlan(records: Records, from: Entity, target: Entity, sight: Sight, open: Set<string>, expanded: string[], hops = 4): Plan {
  const before = new Map<string, Link[]>([[from.id, []]]);
  let frontier = [from.id];
  for (let hop = 0; hop < hops && frontier.length && !before.has(target.id); hop++) {
    const level = new Map<string, Link[]>();
    for (const id of frontier) {
      for (const link of linksOf(records, id, sight)) {
        const end = other(link, id);
        if (link.negated || before.has(end.id)) continue;
        const known = level.get(end.id) ?? [];
        if (known.length < 6) level.set(end.id, [...known, link]);
      }
    }
    for (const [id, links] of level) before.set(id, links);
    frontier = [...level.keys()];
  }
  const builder = new Builder(sight, open);
  const drawn: Link[] = [];
  if (!before.has(target.id)) return builder.plan([], new Set());
  const depth = new Map<string, number>([[target.id, 0]]);
  let level = [target.id];
  for (let hop = 1; level.length; hop++) {
    const next: string[] = [];
    for (const id of level) {
      for (const link of (before.get(id) ?? []).slice(0, 3)) {
        drawn.push(link);
        const end = other(link, id).id;
        if (!depth.has(end)) {
          depth.set(end, hop);
          next.push(end);
        }
      }
    }
    level = next;
  }
  const longest = depth.get(from.id) ?? 0;
  for (const [id, back] of depth) {
    const ends = id === from.id || id === target.id;
    builder.add(longest - back, `hop:${longest - back}`, "", item(records.entities.get(id)!, "", { strong: ends }), 12);
  }
  const shown = drawn.filter((link) => builder.has(link.subject.id) && builder.has(link.object.id));
  grow(records, builder, sight, expanded, shown);
  return builder.plan(unique(shown), new Set());
}

/** The members of a theme by kind, with the links among them. */
export function membersPlan(records: Records, members: Entity[], sight: Sight, open: Set<string>, expanded: string[]): Plan {
  const builder = new Builder(sight, open);
  const ids = new Set(members.map((member) => member.id));
  const links = unique(members.flatMap((member) => linksOf(records, member.id, sight).filter((link) => ids.has(other(link, member.id).id))));
  const degree = new Map<string, number>();
  for (const link of links) for (const end of [link.subject.id, link.object.id]) degree.set(end, (degree.get(end) ?? 0) + link.strength);
  const ranked = [...members].sort((one, another) => (degree.get(another.id) ?? 0) - (degree.get(one.id) ?? 0) || (one.id < another.id ? -1 : 1));
  const columns: [Key, string[]][] = [
    ["causes", ["event", "policy", "region", "indicator"]],
    ["products", ["product", "industry", "theme", "business"]],
    ["company", ["company", "institution", "person"]],
  ];
  columns.forEach(([title, kinds], column) => {
    for (const member of ranked) if (kinds.includes(member.kind)) builder.add(column, title, t(title), item(member, member.code), 16);
  });
  const shown = links.filter((link) => builder.has(link.subject.id) && builder.has(link.object.id));
  grow(records, builder, sight, expanded, shown);
  return builder.plan(unique(shown), new Set());
}
