/** A table with sorting, a filter, and export as CSV and XLSX. */

import type { ColumnDef, SortingState } from "@tanstack/table-core";
import { createTable, getCoreRowModel, getFilteredRowModel, getSortedRowModel } from "@tanstack/table-core";
import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import { saveCsv, saveXlsx } from "./exports";
import { t } from "./words";

export interface TableColumn<Row> {
  id: string;
  title: string;
  /** what is sorted, filtered and exported */
  value: (row: Row) => string | number;
  show?: (row: Row) => ComponentChild;
}

interface Props<Row> {
  name: string;
  rows: Row[];
  columns: TableColumn<Row>[];
  sort?: SortingState;
}

const MOST = 500;

const DAY = /^\d{4}-\d\d-\d\d$/;

export function DataTable<Row extends object>({ name, rows, columns, sort = [] }: Props<Row>) {
  const [sorting, setSorting] = useState<SortingState>(sort);
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(MOST);
  const definitions = useMemo<ColumnDef<Row>[]>(
    () => columns.map((column) => ({ id: column.id, accessorFn: column.value, header: column.title, filterFn: "includesString" })),
    [columns.map((column) => column.title).join("|")],
  );
  const table = createTable<Row>({
    data: rows,
    columns: definitions,
    state: { sorting, globalFilter: filter, columnPinning: { left: [], right: [] }, columnVisibility: {}, columnOrder: [] },
    onStateChange: () => undefined,
    onSortingChange: (next) => setSorting(typeof next === "function" ? next(sorting) : next),
    globalFilterFn: "includesString",
    getColumnCanGlobalFilter: () => true,
    getCoreRowModel: getCoreRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
    getSortedRowModel: getSortedRowModel(),
    renderFallbackValue: "",
  });
  const shown = table.getRowModel().rows;
  const cells = () => [columns.map((column) => column.title), ...shown.map((row) => columns.map((column) => column.value(row.original)))];
  return (
    <div class="tablebox">
      <div class="tools">
        <input type="search" aria-label={t("find")} placeholder={t("find")} value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <span class="faint" aria-live="polite">{t("rows", { n: shown.length })}</span>
        <span class="grow" />
        <button type="button" onClick={() => saveCsv(name, cells())}>CSV</button>
        <button type="button" onClick={() => void saveXlsx(name, cells())}>XLSX</button>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={name}>
        <table>
          <thead>
            <tr>
              {table.getFlatHeaders().map((header) => {
                const order = header.column.getIsSorted();
                return (
                  <th key={header.id} scope="col" class={typeof shown[0]?.getValue(header.id) === "number" ? "number" : ""} aria-sort={order === "asc" ? "ascending" : order === "desc" ? "descending" : "none"}>
                    <button type="button" class="plain" onClick={() => header.column.toggleSorting(order === "asc")}>
                      {String(header.column.columnDef.header)}
                      <span aria-hidden="true">{order === "asc" ? " ▴" : order === "desc" ? " ▾" : ""}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((row) => (
              <tr key={row.id}>
                {columns.map((column) => {
                  const value = column.value(row.original);
                  return <td key={column.id} class={typeof value === "number" ? "number" : DAY.test(value) ? "day" : ""}>{column.show ? column.show(row.original) : value}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
        {shown.length > most ? <button type="button" onClick={() => setMost(most + MOST)}>{t("more", { n: shown.length - most })}</button> : null}
      </div>
    </div>
  );
}
