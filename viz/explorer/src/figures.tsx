/** Figures by period: what was reported, and what each house expected. */

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { records } from "./app";
import { changeText, modalityText, unitText, valueText } from "./claims";
import type { Entity, VisibleFact } from "./data";
import { iso, nameAt } from "./data";
import { inPeriod } from "./links";
import type { ViewFilter } from "./links";
import { isDark, palette } from "./palette";
import { change } from "./state";
import { DataTable } from "./table";
import { t } from "./words";

const CHARTED = 60;

export function figuresOf(entity: Entity, filters: ViewFilter): VisibleFact[] {
  return records.seen(entity.id, filters.asOf).filter(({ fact, first, evidence }) => {
    if (fact.relation.role !== "figure" || !fact.value || fact.negated) return false;
    if (filters.modalities.size && !filters.modalities.has(fact.modality)) return false;
    if (filters.speakers.size && !evidence.some((item) => filters.speakers.has(item.doc.publisher))) return false;
    return inPeriod(fact, first, filters);
  });
}

function groupOf(seen: VisibleFact, entity: Entity, asOf: number): string {
  const { fact } = seen;
  const end = nameAt(fact.subject === entity ? fact.object : fact.subject, asOf);
  const name = end.startsWith(entity.name) && end.length > entity.name.length ? end.slice(entity.name.length) : end;
  const scope = fact.qualifiers.scope ?? fact.qualifiers.product ?? "";
  return [name, scope, changeText(fact.value!.change), unitText(fact.value!.unit)].filter(Boolean).join(" · ");
}

export function Figures({ entity, filters }: { entity: Entity; filters: ViewFilter }) {
  const figures = figuresOf(entity, filters);
  const groups = new Map<string, VisibleFact[]>();
  for (const seen of figures) {
    const name = groupOf(seen, entity, filters.asOf);
    groups.set(name, [...(groups.get(name) ?? []), seen]);
  }
  const names = [...groups].sort(([one, a], [two, b]) => spread(b) - spread(a) || b.length - a.length || (one < two ? -1 : 1)).map(([name]) => name);
  const [chosen, setChosen] = useState("");
  const name = groups.has(chosen) ? chosen : (names[0] ?? "");
  if (!figures.length) return <p class="faint">{t("no_figures", { day: iso(filters.asOf) })}</p>;
  const columns = [
    { id: "indicator", title: t("indicator"), value: (row: VisibleFact) => groupOf(row, entity, filters.asOf) },
    { id: "period", title: t("period"), value: (row: VisibleFact) => row.fact.valid?.text ?? "" },
    { id: "value", title: t("value"), value: (row: VisibleFact) => valueText(row.fact.value), show: (row: VisibleFact) => <button type="button" class="link" onClick={() => change({ pick: `f:${row.fact.id}` }, true)}>{valueText(row.fact.value)}</button> },
    { id: "modality", title: t("modality"), value: (row: VisibleFact) => modalityText(row.fact) || t("actual") },
    { id: "speaker", title: t("speaker"), value: (row: VisibleFact) => housesOf(row).join("、") },
    { id: "day", title: t("day"), value: (row: VisibleFact) => iso(row.last) },
  ];
  return (
    <div class="figures">
      <label>{t("indicator")}{" "}
        <select value={name} onChange={(event) => setChosen(event.currentTarget.value)}>
          {names.slice(0, CHARTED).map((each) => <option key={each} value={each}>{each} ({groups.get(each)!.length})</option>)}
        </select>
      </label>
      <Chart seen={groups.get(name) ?? []} title={name} />
      <DataTable name={`${entity.name} ${t("figures")}`} rows={[...figures].sort((one, two) => two.last - one.last)} columns={columns} />
    </div>
  );
}

function spread(all: VisibleFact[]): number {
  return new Set(all.map((seen) => seen.fact.valid?.text ?? iso(seen.first))).size;
}

function housesOf(seen: VisibleFact): string[] {
  return [...new Set(seen.evidence.map((item) => item.speaker || item.doc.publisher).filter(Boolean))];
}

function Chart({ seen, title }: { seen: VisibleFact[]; title: string }) {
  const box = useRef<HTMLDivElement>(null);
  const key = seen.map((each) => each.fact.id).join();
  useEffect(() => {
    if (!box.current || seen.length < 2) return;
    const width = Math.max(300, Math.min(860, box.current.clientWidth));
    const { options, data } = chartOf(seen, title, width);
    const chart = new uPlot(options, data, box.current);
    return () => chart.destroy();
  }, [key, isDark()]);
  return seen.length < 2 ? null : <div class="chart" ref={box} role="img" aria-label={`${t("chart")} ${title}`} />;
}

function chartOf(seen: VisibleFact[], title: string, width: number): { options: uPlot.Options; data: uPlot.AlignedData } {
  const colors = palette();
  const series = new Map<string, Map<number, number>>();
  for (const each of seen) {
    const { fact } = each;
    const x = (fact.valid?.start ?? each.first) * 86_400;
    const house = housesOf(each)[0] ?? "";
    const name = fact.modality === "asserted" ? t("actual") : `${modalityText(fact)} ${house}`.trim();
    const points = series.get(name) ?? new Map<number, number>();
    points.set(x, fact.value!.number);
    series.set(name, points);
  }
  const xs = [...new Set([...series.values()].flatMap((points) => [...points.keys()]))].sort((one, two) => one - two);
  const tones = [colors.focus, colors.plus, colors.fresh, colors.minus, ...Object.values(colors.kinds).map(([, line]) => line)];
  const shown = [...series].slice(0, 8);
  const unit = seen[0]!.fact.value!;
  const text = (value: number | null) => (value === null ? "" : valueText({ ...unit, number: value, high: null, change: "" }));
  const options: uPlot.Options = {
    width, height: 230, title,
    scales: { x: { time: true } },
    axes: [
      { stroke: colors.faint, grid: { stroke: colors.line, width: 1 }, ticks: { stroke: colors.line, width: 1 }, font: "11px sans-serif", values: (_, splits) => splits.map((split) => iso(Math.floor(split / 86_400)).slice(0, 7)) },
      { stroke: colors.faint, grid: { stroke: colors.line, width: 1 }, ticks: { stroke: colors.line, width: 1 }, size: 84, font: "11px sans-serif", values: (_, splits) => splits.map(text) },
    ],
    series: [
      { label: t("period"), value: (_, value) => (value === null ? "" : iso(Math.floor(value / 86_400))) },
      ...shown.map(([name], row): uPlot.Series => ({
        label: name, stroke: tones[row % tones.length], width: 2, spanGaps: true, points: { show: true, size: 7 },
        ...(name === t("actual") ? {} : { dash: [6, 5] }), value: (_, value) => text(value),
      })),
    ],
    legend: { live: true },
  };
  return { options, data: [xs, ...shown.map(([, points]) => xs.map((x) => points.get(x) ?? null))] as uPlot.AlignedData };
}
