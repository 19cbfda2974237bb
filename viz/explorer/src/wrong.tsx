/** 「这条不对」: a revocable judgement on what a name in one document means, recorded by the served explorer. */

import { useState } from "preact/hooks";
import { meta } from "./app";
import type { Entity, Evidence, Fact } from "./data";
import { t } from "./words";

async function post(path: string, values: Record<string, string>): Promise<{ id?: string; detail?: string }> {
  const response = await fetch(`explorer/${path}?${new URLSearchParams(values)}`, {
    method: "POST",
    headers: { "X-Liantu-Token": meta.token ?? "", Accept: "application/json" },
  });
  return (await response.json()) as { id?: string; detail?: string };
}

export function Wrong({ item, fact }: { item: Evidence; fact: Fact }) {
  const [open, setOpen] = useState(false);
  const [which, setWhich] = useState<Entity>(fact.subject);
  const [name, setName] = useState(fact.subject.name);
  const [by, setBy] = useState("");
  const [why, setWhy] = useState("");
  const [outcome, setOutcome] = useState<{ id?: string; text: string } | null>(null);
  if (!open) return <button type="button" class="link" onClick={() => setOpen(true)}>{t("wrong")}</button>;
  const tell = (answer: { id?: string; detail?: string }, done: string) =>
    setOutcome(answer.id ? { id: answer.id, text: done } : { text: t("wrong_failed", { why: answer.detail ?? "" }) });
  const send = async (event: Event) => {
    event.preventDefault();
    const answer = await post("judge", { subject: which.id, name, document: item.doc.id, by, why });
    tell(answer, t("wrong_done", { id: answer.id ?? "" }));
  };
  const revoke = async () => {
    const answer = await post("revoke", { judgement: outcome?.id ?? "", by, why });
    setOutcome({ text: answer.id ? t("wrong_undone") : t("wrong_failed", { why: answer.detail ?? "" }) });
  };
  const choose = (entity: Entity) => {
    setWhich(entity);
    setName(entity.name);
  };
  return (
    <form class="wrong" onSubmit={(event) => void send(event)}>
      <p>{t("wrong_intro")}</p>
      {[fact.subject, fact.object].map((entity) => (
        <label key={entity.id}>
          <input type="radio" name={`wrong-${item.doc.id}-${item.start}`} checked={which === entity} onChange={() => choose(entity)} />
          {t("wrong_entity", { a: entity.name, b: `${entity.name} ${entity.code}`.trim() })}
        </label>
      ))}
      <label>{t("wrong_name")}<input required value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label>{t("wrong_by")}<input required value={by} onInput={(event) => setBy(event.currentTarget.value)} /></label>
      <label>{t("wrong_why")}<input required value={why} onInput={(event) => setWhy(event.currentTarget.value)} /></label>
      <button type="submit">{t("wrong_send")}</button>
      {outcome ? <p role="status">{outcome.text}</p> : null}
      {outcome?.id ? <button type="button" onClick={() => void revoke()}>{t("wrong_undo")}</button> : null}
    </form>
  );
}
