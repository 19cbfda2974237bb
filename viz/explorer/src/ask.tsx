/** A question in words: the answer with its sentences, and where it is drawn. Asked of the service; a file cannot answer. */

import { useState } from "preact/hooks";
import { asOfText, ensure, entityOf, filtersOf, loadPictures, pictureKey, picturesOf, records, source, useLoading } from "./app";
import { Drawn, Legend, kindsOf } from "./frame";
import { answerPlan, profilePlan } from "./plans";
import type { Asked, AskedLine } from "./source";
import type { Route } from "./state";
import { HOME, change, hrefTo, viewFor } from "./state";
import { t } from "./words";

const DRAWN: Record<string, Route["view"]> = { impact: "factor", causes: "factor", chain: "chain", relate: "path" };

export function AskView({ route }: { route: Route }) {
  const question = route.ids[0] ?? "";
  const day = asOfText(route);
  const [answer, setAnswer] = useState<Asked | null>(null);
  const loading = useLoading(() => source.ask(question, day).then(setAnswer), `ask:${question}:${day}`);
  if (loading.state === "loading") return <p class="faint wait" role="status">{t("loading")}</p>;
  if (loading.state === "failed" || !answer) return <p class="failed" role="alert">{t("failed_other", { n: loading.why })}</p>;
  const { entities, operation } = answer.understood;
  const view = DRAWN[operation];
  const [first, second] = entities;
  return (
    <article class="content asked">
      <h1>{question}</h1>
      <p class="buttons">
        {view === "path" && first && second ? <a class="chip" href={hrefTo("path", first.id, second.id)}>{t("draw", { a: `${first.name} ↔ ${second.name}` })}</a> : null}
        {entities.map((entity) => <a key={entity.id} class="chip" href={hrefTo(view && view !== "path" ? view : viewFor(entity.kind), entity.id)}>{t("draw", { a: entity.name })}</a>)}
      </p>
      {answer.status === "not_found" ? <p>{t("not_answered")}</p> : null}
      {answer.choices.length ? <p>{t("which")} {answer.choices.map((entity) => <a key={entity.id} class="chip" href={hrefTo(viewFor(entity.kind), entity.id)}>{entity.name}</a>)}</p> : null}
      {answer.near.length ? <p>{t("near")}：{answer.near.join("、")}</p> : null}
      <AskedPicture route={drawnOf(route, answer, view)} asked={route} />
      <Lines lines={answer.lines} />
      {answer.passages.length ? <h2>{t("passages")}</h2> : null}
      <Lines lines={answer.passages} />
    </article>
  );
}

/** Return the view that draws an answer. */
function drawnOf({ day }: Route, { understood: { direction, entities } }: Asked, view: Route["view"] | undefined): Route {
  const down = view === "factor" && direction < 0 ? 1 : 0;
  return { ...HOME, day, down, view: view ?? "company", ids: entities.slice(0, view === "path" ? 2 : 1).map(({ id }) => id) };
}

/** The picture of an answer, next to its sentences. */
function AskedPicture({ route, asked }: { route: Route; asked: Route }) {
  const filters = filtersOf(route);
  const [id = ""] = route.ids;
  const loading = useLoading(() => (!id ? Promise.resolve() : route.view === "company" ? ensure([id]) : loadPictures(route)), pictureKey(route));
  const entity = entityOf(id);
  const pictures = route.view === "company" ? [] : (picturesOf(route) ?? []);
  if (loading.state === "loading") return <p class="faint wait" role="status">{t("loading")}</p>;
  if (loading.state !== "ready" || !entity) return null;
  const answered = pictures.length ? answerPlan(records, pictures, filters, new Set(asked.open), []) : null;
  const plan = answered?.links.length ? answered : profilePlan(records, entity, filters, new Set(asked.open), []);
  return plan.links.length ? <div class="drawn"><Legend all={kindsOf(plan)} links={plan.links} /><Drawn plan={plan} route={asked} filters={filters} title={entity.name} /></div> : null;
}

function Lines({ lines }: { lines: AskedLine[] }) {
  return (
    <ul class="lines">
      {lines.map((line, row) => (
        <li key={row} class={line.indent ? "inset" : ""}>
          {line.text}
          {line.citations.slice(0, 3).map((each) => (
            <button key={each.document + each.start} type="button" class="link" title={each.quote} onClick={() => change({ pick: `d:${each.document}~${each.start}~${each.end}` })}>
              {[each.speaker || each.publisher, each.title, each.published_on, each.page ? t("page_no", { n: each.page }) : ""].filter(Boolean).join(" · ")}
            </button>
          ))}
        </li>
      ))}
    </ul>
  );
}
