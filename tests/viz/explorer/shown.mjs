// What the explorer shows of packed data, by its own code: reads questions as JSON lines, writes what is drawn.
import { Records } from "./engine.mjs";
import { answerPlan, pathsOf, profilePlan } from "./engine.mjs";
import { readFileSync } from "node:fs";

const { relations, records: parts, asked, day } = JSON.parse(readFileSync(0, "utf8"));
const records = new Records(relations);
for (const part of parts) records.add(part);
const none = () => new Set();
const filters = {
  asOf: day, since: null, relations: none(), kinds: none(), modalities: none(), speakers: none(), certainty: null, weak: false,
  sources: 0, age: 0, from: null, to: null, hidden: none(), pinned: none(),
};
const keys = (links) => links.map(({ key }) => key.split("\u001f")).sort();
const everything = { has: () => true };
const shown = asked.map(({ picture, profile, asOf }) => {
  const seen = { ...filters, asOf: asOf ?? day };
  const plan = profile
    ? profilePlan(records, records.entities.get(profile), seen, everything, [])
    : answerPlan(records, [picture], seen, everything, []);
  return {
    columns: plan.columns.map(({ index, sections }) => [index, sections.map(({ items }) => items.map(({ entity, move }) => [entity.id, move]))]),
    links: keys(plan.links),
    paths: profile ? [] : pathsOf(records, picture, seen).map(({ links, end, sign }) => [links.map(({ key }) => key.split("\u001f")), end.id, sign]),
  };
});
process.stdout.write(JSON.stringify(shown));
