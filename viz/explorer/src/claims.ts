/** Facts in words: values, qualifiers, directions. */

import type { Entity, Fact, Value } from "./data";
import { nameAt } from "./data";
import type { Link } from "./links";
import { isKey, lang, pick, t } from "./words";

const RATIOS = new Set(["%", "pct", "bp"]);
const SCALES_ZH: [string, number][] = [["万亿", 1e12], ["亿", 1e8], ["万", 1e4]];
const SCALES_EN: [string, number][] = [["tn", 1e12], ["bn", 1e9], ["m", 1e6]];
const UNITS_EN: Record<string, string> = {
  pct: "pp", 倍: "x", 点: "points", 元: "CNY", 人民币: "CNY", 美元: "USD", 港元: "HKD", 欧元: "EUR", 日元: "JPY",
  吨: "t", 公斤: "kg", 克: "g", 盎司: "oz", 桶: "bbl", 米: "m", 公里: "km", 平方米: "m²", 立方米: "m³", 小时: "h",
  日: "day", 天: "days", 月: "month", 年: "year", 股: "shares", 辆: "vehicles", 家: "firms", 人: "people", 头: "head",
  次: "times", 片: "pieces", 件: "pieces", 颗: "pieces", 块: "pieces", 台: "units", 套: "units", 部: "units", 款: "models", 个: "",
};

function digits(number: number): string {
  const text = Number(number.toPrecision(6));
  return text.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

export function unitText(unit: string): string {
  if (lang() === "zh") return unit === "pct" ? "个百分点" : unit;
  return unit.split("/").map((each) => UNITS_EN[each] ?? each).join("/");
}

export function changeText(change: string): string {
  if (!change) return "";
  const key = change === "share" ? "share_of" : change;
  return isKey(key) ? t(key) : change;
}

/** Return a value with its unit and kind of change: 同比 +12%, 25.8亿元. */
export function valueText(value: Value | null): string {
  if (!value) return "";
  const zh = lang() === "zh";
  const top = Math.max(Math.abs(value.number), Math.abs(value.high ?? 0));
  const scales = zh ? SCALES_ZH : SCALES_EN;
  const written = zh ? scales.find(([name]) => name === value.scale) : undefined;
  const scale = RATIOS.has(value.unit) ? undefined : (written ?? scales.find(([, factor]) => top >= factor));
  const [name, factor] = scale ?? ["", 1];
  const sign = value.change && value.change !== "share" && value.number > 0 ? "+" : "";
  const range = value.high === null ? "" : `–${digits(value.high / factor)}`;
  const unit = unitText(value.unit);
  const gap = zh || RATIOS.has(value.unit) || unit === "x" || !unit ? "" : " ";
  const change = changeText(value.change);
  return `${change}${change ? " " : ""}${sign}${digits(value.number / factor)}${range}${name}${gap}${unit}`;
}

/** Return the word for a move of an end of a causal fact. */
export function moveText(entity: Entity, direction: string | undefined): string {
  if (!direction || direction === "none") return "";
  const up = direction === "up";
  if (entity.kind === "event" || entity.kind === "policy") return up ? "" : t("eases");
  if (["product", "industry", "theme", "company", "business"].includes(entity.kind)) return up ? t("better") : t("worse");
  return up ? t("up") : t("down");
}

/** Return how far a delivery has come, in words. */
export function stageText(stage: string): string {
  const key = `stage_${stage}`;
  return isKey(key) ? t(key) : stage;
}

/** Return what a supply is of the supplier's revenue and of the customer's cost; `from` is the company that is looked at. */
function shareTexts({ subject, object, qualifiers }: Fact, from = ""): string[] {
  const who = (end: Entity) => (!from ? end.name : end.id === from ? t("own") : t("its"));
  const { revenue_share, cost_share } = qualifiers;
  return [revenue_share ? t("revenue_share", { a: revenue_share, b: who(subject) }) : "", cost_share ? t("cost_share", { a: cost_share, b: who(object) }) : ""].filter(Boolean);
}

export function sharesOf(link: Link, from: string): string[] {
  return link.seen.map(({ fact }) => shareTexts(fact, from)).find((texts) => texts.length) ?? [];
}

/** Return the qualifiers that a reader of the link needs: product, shares, stage, rank, rating, value. */
export function notesOf(fact: Fact, from = ""): string[] {
  const { product, stage, rank, rating, action, lag } = fact.qualifiers;
  const notes = [];
  if (product) notes.push(product);
  notes.push(...shareTexts(fact, from));
  if (stage) notes.push(stageText(stage));
  if (rank) notes.push(rank);
  if (rating) notes.push([action, rating].filter(Boolean).join(" "));
  if (lag) notes.push(`${t("lag")} ${lag}`);
  if (fact.value && fact.relation.role !== "figure") notes.push(valueText(fact.value));
  return notes;
}

export function modalityText(fact: Fact): string {
  return fact.modality !== "asserted" && isKey(fact.modality) ? t(fact.modality) : "";
}

/** Return a fact as one sentence, with period and certainty in brackets. */
export function claimText(fact: Fact, asOf: number): string {
  const subject = nameAt(fact.subject, asOf);
  const object = nameAt(fact.object, asOf);
  const notes = notesOf(fact);
  let body: string;
  if (fact.relation.role === "effect") {
    const cause = [subject, moveText(fact.subject, fact.qualifiers.cause_direction)];
    const effect = [object, moveText(fact.object, fact.qualifiers.effect_direction)];
    const glue = lang() === "zh" ? "" : " ";
    body = `${cause.filter(Boolean).join(glue)} → ${effect.filter(Boolean).join(glue)}`;
  } else if (fact.relation.role === "figure") {
    const owner = object.includes(subject) ? "" : `${subject} `;
    const scope = fact.qualifiers.scope ? (lang() === "zh" ? `（${fact.qualifiers.scope}）` : ` (${fact.qualifiers.scope})`) : "";
    body = `${owner}${object}${scope} ${valueText(fact.value)}`;
  } else {
    const wording = pick(fact.relation.wording) || fact.relation.name;
    body = wording.includes("…") ? `${subject} ${wording.replace("…", ` ${object} `)}` : `${subject} ${wording} ${object}`;
  }
  if (fact.negated) body += t("denied_mark");
  const marks = [...(fact.relation.role === "figure" ? [] : notes), fact.valid?.text ?? "", modalityText(fact)].filter(Boolean);
  if (!marks.length) return body;
  return lang() === "zh" ? `${body}（${marks.join(" · ")}）` : `${body} (${marks.join(" · ")})`;
}

/** Return a relation's wording with … where the other end stands: 是…的上游, 由…生产. */
export function relationText(fact: Fact, from: string): string {
  return pick(fact.subject.id === from ? fact.relation.wording : fact.relation.inverse) || fact.relation.name;
}
