import "uplot/dist/uPlot.min.css";
import "./explorer.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { meta } from "./app";
import { AskView } from "./ask";
import { Search } from "./controls";
import { CommonView, ContestedView } from "./common";
import { Drawer } from "./drawer";
import { act } from "./frame";
import { Home } from "./home";
import { loadKept } from "./kept";
import type { Route } from "./state";
import { HOME, canUndo, changed, current, go, to, undo, useChanges, viewFor, write } from "./state";
import { ThemePage } from "./themes";
import { ChainView, CompanyView, FactorView, NetworkPage, PathView } from "./views";
import type { Lang } from "./words";
import { lang, setLang, t } from "./words";

const KEPT = "liantu.explorer";

/** Choices of language and colours stay in the browser, where it allows that. */
function kept(): { lang?: Lang; theme?: "dark" | "light" } {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") as ReturnType<typeof kept>;
  } catch {
    return {};
  }
}

function keep(choice: ReturnType<typeof kept>): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...choice }));
  } catch {
    // a page opened from disk may have no storage; the choice then holds for this visit
  }
}

function applyLang(chosen: Lang): void {
  setLang(chosen);
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
  document.title = t("title");
}

function applyTheme(theme: "dark" | "light"): void {
  document.documentElement.dataset.theme = theme;
}

const VIEWS: Record<string, (props: { route: Route }) => unknown> = {
  company: CompanyView, chain: ChainView, factor: FactorView, network: NetworkPage, theme: ThemePage, path: PathView, common: CommonView, contested: ContestedView,
  ask: ({ route }) => <><div class="stage"><AskView route={route} /><Drawer route={route} links={[]} act={(action, id) => act(route, action, id)} /></div></>,
};

function App() {
  useChanges();
  const [, again] = useState(0);
  const route = current();
  const View = VIEWS[route.view] as ((props: { route: Route }) => preact.JSX.Element) | undefined;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement || event.target instanceof HTMLTextAreaElement;
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") document.querySelector<HTMLInputElement>("#search, #search-home")?.focus();
      else if (event.key === "z" && canUndo()) undo();
      else if (event.key === "Escape" && current().pick) go({ ...current(), pick: "" }, true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const refresh = () => (again((count) => count + 1), changed());
  const dark = document.documentElement.dataset.theme === "dark";
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>{t("skip")}</a>
      <nav class="top" aria-label={t("title")}>
        <a class="logo" href={meta.alone ? meta.start : write({ ...HOME, day: route.day, since: route.since })}>{t("title")}</a>
        {route.view === "home" ? <span class="grow" /> : <Search route={route} id="search" label={t("search")} onChoose={(match) => go(to(viewFor(match.kind), match.id))} />}
        <button type="button" lang={lang() === "zh" ? "en" : "zh-CN"} onClick={() => { const next = lang() === "zh" ? "en" : "zh"; keep({ lang: next }); applyLang(next); refresh(); }}>{t("language")}</button>
        <button type="button" onClick={() => { const next = dark ? "light" : "dark"; keep({ theme: next }); applyTheme(next); refresh(); }}>{t(dark ? "light" : "dark")}</button>
      </nav>
      <main id="content" tabIndex={-1} class={`view-${route.view}`}>
        {View ? <View key={`${route.view}:${route.ids.join()}`} route={route} /> : (
          <div class="stage"><div class="content"><Home route={route} /></div><Drawer route={route} links={[]} act={(action, id) => act(route, action, id)} /></div>
        )}
      </main>
    </>
  );
}

// a page of one answer opens at it
if (meta.start && !location.hash) history.replaceState(history.state, "", meta.start);
const chosen = kept();
applyLang(chosen.lang ?? meta.lang);
applyTheme(chosen.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
void loadKept();
