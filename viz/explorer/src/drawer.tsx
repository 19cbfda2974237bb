/** The evidence drawer: what supports a link or a figure, word for word, other sources of it, and what contradicts it. */

import { useState } from "preact/hooks";
import { asOfDay, ensure, entityOf, meta, records, filtersOf, source, useLoading } from "./app";
import { claimText } from "./claims";
import type { Entity, Evidence, VisibleFact } from "./data";
import { certainty, cut, independent, iso, nameAt, see } from "./data";
import type { Link } from "./links";
import { NoteBox } from "./kept";
import { linkByKey, linksOf, other, rivals } from "./links";
import type { Route } from "./state";
import { change, go, hrefTo, to } from "./state";
import { Wrong } from "./wrong";
import { pick, t } from "./words";

/** what the drawer shows when it lists the links of the picture */
export const LIST = "list";
const AROUND = 160;
const QUOTES = 6;

export function Drawer({ route, links, act }: { route: Route; links: Link[]; act: (action: "expand" | "hide" | "pin" | "open", id: string) => void }) {
  const close = () => change({ pick: "" }, true);
  if (!route.pick) return null;
  return (
    <aside class="drawer" aria-label={t("drawer_for")}>
      <button type="button" class="shut" onClick={close} aria-label={t("close")}>×</button>
      <Contents route={route} links={links} act={act} />
    </aside>
  );
}

function Contents({ route, links, act }: Parameters<typeof Drawer>[0]) {
  if (route.pick === LIST) return <Listed links={links} asOf={asOfDay(route)} />;
  const what = route.pick.slice(2);
  const asOf = asOfDay(route);
  if (route.pick.startsWith("n:")) {
    const entity = entityOf(what);
    return entity ? <><About entity={entity} route={route} act={act} /><NoteBox about={route.pick} title={nameAt(entity, asOf)} /></> : null;
  }
  if (route.pick.startsWith("l:")) {
    const link = linkByKey(records, what, filtersOf(route));
    return link ? <><FactEvidence all={link.seen} asOf={asOf} /><NoteBox about={route.pick} title={claimText(link.seen[0]!.fact, asOf)} /></> : <p>{t("no_quote")}</p>;
  }
  if (route.pick.startsWith("d:")) return <StoredText place={what} />;
  const fact = records.facts.get(what);
  const seen = fact && see(fact, asOf);
  return seen ? <FactEvidence all={[seen]} asOf={asOf} /> : <p>{t("no_quote")}</p>;
}

/** All links of the picture, the strongest first; each opens its evidence. */
function Listed({ links, asOf }: { links: Link[]; asOf: number }) {
  const ranked = [...links].sort((one, two) => two.strength - one.strength || (one.key < two.key ? -1 : 1));
  return (
    <>
      <h2>{t("list_of", { n: links.length })}</h2>
      <p class="faint">{t("list_hint")}</p>
      <ul class="links">
        {ranked.map((link) => (
          <li key={link.key}>
            <button type="button" class="plain" onClick={() => change({ pick: `l:${link.key}` })}>
              {claimText(link.seen[0]!.fact, asOf)}
              <span class="faint"> {[`${Math.round(link.certainty * 100)}%`, ...marksOf(link)].join(" · ")}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function marksOf(link: Link): string[] {
  return [link.contested ? t("contested") : "", link.weak ? t("unsure") : "", link.ended ? t("is_ended") : link.isNew ? t("is_new") : ""].filter(Boolean);
}

function About({ entity, route, act }: { entity: Entity; route: Route; act: Parameters<typeof Drawer>[0]["act"] }) {
  const filters = filtersOf(route);
  useLoading(() => ensure([entity.id]), `about:${entity.id}`);
  // what ties it to the topic of the view comes first
  const topics = new Set(route.ids);
  const all = linksOf(records, entity.id, { ...filters, hidden: new Set() });
  const tied = all.filter((link) => topics.has(other(link, entity.id).id));
  const links = [...tied, ...all.filter((link) => !tied.includes(link))].slice(0, 40);
  const pinned = route.pinned.includes(entity.id);
  return (
    <>
      <h2>{nameAt(entity, filters.asOf)}</h2>
      <p class="faint">{[pick(meta.kinds[entity.kind]), entity.code, entity.aliases].filter(Boolean).join(" · ")}</p>
      <p class="buttons">
        <button type="button" class="main" onClick={() => act("open", entity.id)}>{t("open")}</button>
        {meta.alone ? null : <button type="button" onClick={() => act("expand", entity.id)}>{t(route.expanded.includes(entity.id) ? "collapse" : "expand")}</button>}
        <button type="button" onClick={() => act("hide", entity.id)}>{t("hide")}</button>
        <button type="button" onClick={() => act("pin", entity.id)}>{t(pinned ? "unpin" : "pin")}</button>
        {meta.alone ? null : [1, 2, 3].map((depth) => (
          <button key={depth} type="button" onClick={() => go({ ...to("network", entity.id), depth })}>{t("focus")} {depth}</button>
        ))}
      </p>
      {meta.mode === "served" && route.ids[0] && route.ids[0] !== entity.id ? (
        <p><a href={hrefTo("path", route.ids[0], entity.id)}>{t("path")}: {entityOf(route.ids[0])?.name ?? ""} → {entity.name}</a></p>
      ) : null}
      <ul class="links">
        {links.map((link) => (
          <li key={link.key}>
            <button type="button" class="plain" onClick={() => change({ pick: `l:${link.key}` }, true)}>
              {claimText(link.seen[0]!.fact, filters.asOf)}
              <span class="faint"> {[...marksOf(link), `${Math.round(link.certainty * 100)}%`].join(" · ")}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function FactEvidence({ all, asOf }: { all: VisibleFact[]; asOf: number }) {
  const [most, setMost] = useState(QUOTES);
  const first = all[0]!;
  const evidence = all.flatMap((seen) => seen.evidence.map((item) => ({ item, seen })));
  evidence.sort((one, two) => two.item.doc.day - one.item.doc.day || two.item.confidence - one.item.confidence);
  const distinct = [...new Map(evidence.map((each) => [`${each.item.doc.id}:${each.item.start}`, each])).values()];
  const against = [...new Map(all.flatMap((seen) => rivals(records, seen, asOf)).map((seen) => [seen.fact.id, seen])).values()];
  const { subject, object } = first.fact;
  return (
    <>
      <h2>{claimText(first.fact, asOf)}</h2>
      <p class="ends"><a href={hrefTo("company", subject.id)}>{nameAt(subject, asOf)}</a> <a href={hrefTo("company", object.id)}>{nameAt(object, asOf)}</a></p>
      {all.every((seen) => seen.closedBy) ? <p class="warn">{t("closed_by")}</p> : null}
      <Why evidence={evidence.map(({ item }) => item)} against={against.length} asOf={asOf} />
      <h3>{t("evidence")} · {t("quotes", { n: distinct.length })}</h3>
      {distinct.slice(0, most).map(({ item, seen }) => (
        <Quote key={item.doc.id + item.start} item={item} seen={seen} claim={all.length > 1 ? claimText(seen.fact, asOf) : ""} />
      ))}
      {distinct.length > most ? <button type="button" onClick={() => setMost(most + 20)}>{t("more", { n: distinct.length - most })}</button> : null}
      {against.length ? <h3>{t("against")}</h3> : null}
      {against.slice(0, QUOTES).map((seen) => (
        <div key={seen.fact.id} class="against">
          <p>{claimText(seen.fact, asOf)}</p>
          {seen.evidence.slice(0, 2).map((item) => <Quote key={item.doc.id + item.start} item={item} seen={seen} claim="" />)}
        </div>
      ))}
    </>
  );
}

/** Why a link is believed: how surely it was read, which houses state it and when, and what contradicts it. */
function Why({ evidence, against, asOf }: { evidence: Evidence[]; against: number; asOf: number }) {
  const documents = new Set(evidence.map((item) => item.doc.id)).size;
  const houses = new Map<string, Set<string>>();
  for (const { doc, speaker } of evidence) houses.set(speaker || doc.publisher, (houses.get(speaker || doc.publisher) ?? new Set()).add(iso(doc.day)));
  const best = Math.max(...evidence.map((item) => item.confidence));
  return (
    <details open>
      <summary>{t("why", { n: Math.round(certainty(evidence) * 100) })}</summary>
      <p>{t("why_one", { n: Math.round(best * 100) })}</p>
      {documents > 1 ? <p>{t("why_many", { n: documents })}</p> : null}
      <p>{t("why_sources", { n: independent(evidence, asOf) })}</p>
      <p>{t("why_houses")}：{[...houses].map(([house, days]) => `${house || t("no_house")}（${[...days].sort().join("、")}）`).join("；")}</p>
      <p>{against ? t("why_against", { n: against }) : t("why_unopposed")}</p>
    </details>
  );
}

function Quote({ item, seen, claim }: { item: Evidence; seen: VisibleFact; claim: string }) {
  const from = Math.max(0, item.start - AROUND);
  const [text, setText] = useState<{ text: string; start: number } | null>(null);
  const loading = useLoading(
    () => source.text(item.doc.id, from, item.end + AROUND).then(setText),
    `${item.doc.id}:${item.start}`,
  );
  const page = pageOf(item.doc.pages, item.start);
  const house = [item.doc.publisher, item.speaker !== item.doc.publisher ? item.speaker : ""].filter(Boolean).join(" · ");
  const safe = /^https?:\/\//i.test(item.doc.url);
  return (
    <blockquote>
      {claim ? <p class="claim">{claim}</p> : null}
      {text && loading.state === "ready" ? <Marked text={text.text} start={text.start} item={item} /> : <p class="faint">{t("loading_text")}</p>}
      <footer>
        {item.doc.title} · {house} · <time>{iso(item.doc.day)}</time>{page ? ` · ${t("page_no", { n: page })}` : ""}
        <br />
        {meta.alone ? null : <button type="button" class="link" onClick={() => change({ pick: `d:${item.doc.id}~${item.start}~${item.end}` }, true)}>{t("full_text")}</button>}
        {safe ? <a href={item.doc.url} target="_blank" rel="noopener noreferrer">{t("original")}</a> : null}
        {meta.mode === "served" ? <Wrong item={item} fact={seen.fact} /> : null}
      </footer>
    </blockquote>
  );
}

/** The sentence with its neighbours: from the sentence end before it to the one after it. */
function Marked({ text, start, item }: { text: string; start: number; item: { start: number; end: number } }) {
  const quote = cut(text, item.start - start, item.end - start);
  const before = cut(text, 0, item.start - start);
  const after = cut(text, item.end - start, Infinity);
  const lead = before.replace(/^[\s\S]*?[。！？\n](?=[\s\S]*\S)/, "");
  const tail = after.match(/^[^。！？\n]*[。！？\n]?[^。！？\n]*[。！？]?/)?.[0] ?? after;
  return <p class="quote">{lead.length < before.length ? "…" : ""}{lead}<mark>{quote}</mark>{tail}</p>;
}

const PAGE = 15_000;

/** Return the page of an offset, from 1; 0 in a format without pages. */
function pageOf(pages: ArrayLike<number>, offset: number): number {
  return pages.length ? Array.from(pages).filter((begin) => begin <= offset).length || 1 : 0;
}

function StoredText({ place }: { place: string }) {
  const [id = "", from = "0", until = "0"] = place.split("~");
  const [start, end] = [Number(from) || 0, Number(until) || 0];
  const begin = Math.max(0, start - 4000);
  const [part, setPart] = useState<{ text: string; start: number; more: boolean } | null>(null);
  const loading = useLoading(() => source.text(id, begin, begin + PAGE).then(setPart), place);
  const doc = records.documents.get(id);
  const page = pageOf(doc?.pages ?? [], start);
  if (loading.state !== "ready" || !part) return <p class="faint">{t("loading_text")}</p>;
  return (
    <>
      <h2>{doc?.title ?? ""}</h2>
      <p class="faint">{doc ? `${doc.publisher} · ${iso(doc.day)}` : ""}{page ? ` · ${t("page_no", { n: page })}` : ""}</p>
      <p class="stored">
        {part.start > 0 ? "…" : ""}{cut(part.text, 0, start - part.start)}
        <mark ref={(mark) => mark?.scrollIntoView({ block: "center" })}>{cut(part.text, start - part.start, end - part.start)}</mark>
        {cut(part.text, end - part.start, Infinity)}{part.more ? "…" : ""}
      </p>
    </>
  );
}
