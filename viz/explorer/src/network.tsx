/** Up to a few thousand nodes at once, drawn by sigma.js on WebGL; positions are computed once, from a fixed start. */

import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import { useEffect, useRef } from "preact/hooks";
import Sigma from "sigma";
import { ensure, records, noFilters } from "./app";
import { nameAt } from "./data";
import type { Link, ViewFilter } from "./links";
import { linksOf, other } from "./links";
import { blended, kindColors, palette, signColor } from "./palette";
import { namesakesOf } from "./picture";
import { t } from "./words";

const FRONTIER = 120;
const EACH = 60;

/** Load what lies within some steps of the seeds, the strongest first, until the budget is spent. */
export async function loadNetwork(seeds: string[], depth: number, most: number): Promise<void> {
  await ensure(seeds);
  const filters = noFilters();
  const met = new Set(seeds);
  let frontier = seeds;
  for (let step = 1; step < depth && met.size < most; step++) {
    const next: string[] = [];
    for (const id of frontier) {
      for (const link of linksOf(records, id, filters).slice(0, EACH)) {
        const end = other(link, id).id;
        if (!met.has(end)) {
          met.add(end);
          next.push(end);
        }
      }
    }
    frontier = next.slice(0, Math.max(FRONTIER, most / 4));
    await ensure(frontier);
  }
}

export interface Network {
  nodes: string[];
  links: Link[];
  left: number;
}

/** Return the nodes within some steps of the seeds as of the day, and all links among them. */
export function networkOf(seeds: string[], depth: number, most: number, filters: ViewFilter): Network {
  const nodes = new Map<string, Link[]>();
  let frontier = seeds.filter((id) => !filters.hidden.has(id));
  let left = 0;
  for (const id of frontier) nodes.set(id, []);
  for (let step = 0; step < depth; step++) {
    const next: string[] = [];
    for (const id of frontier) {
      const links = linksOf(records, id, filters);
      nodes.set(id, links);
      for (const link of links) {
        const end = other(link, id).id;
        if (nodes.has(end)) continue;
        if (nodes.size >= most) left += 1;
        else {
          nodes.set(end, []);
          next.push(end);
        }
      }
    }
    frontier = next;
  }
  const links = new Map<string, Link>();
  for (const each of nodes.values()) {
    for (const link of each) if (nodes.has(link.subject.id) && nodes.has(link.object.id)) links.set(link.key, link);
  }
  return { nodes: [...nodes.keys()], links: [...links.values()], left };
}

function graphOf(network: Network, seeds: string[], filters: ViewFilter): Graph {
  const graph = new Graph({ multi: true });
  const colors = palette();
  const chosen = new Set(seeds);
  const namesakes = namesakesOf(network.nodes.flatMap((id) => records.entities.get(id) ?? []), filters.asOf);
  const degree = new Map<string, number>();
  for (const link of network.links) for (const end of [link.subject.id, link.object.id]) degree.set(end, (degree.get(end) ?? 0) + 1);
  network.nodes.forEach((id, row) => {
    const entity = records.entities.get(id);
    if (!entity) return;
    // a sunflower, the seeds in its middle: the same graph is laid out the same way
    const [angle, radius] = [row * 2.399963, Math.sqrt(row + 0.5)];
    const size = chosen.has(id) ? 12 : 3 + Math.min(6, Math.sqrt(degree.get(id) ?? 1));
    graph.addNode(id, {
      x: Math.cos(angle) * radius, y: Math.sin(angle) * radius, size, label: nameAt(entity, filters.asOf) + (namesakes.get(id) ?? ""), color: kindColors(entity.kind)[1],
      forceLabel: chosen.has(id),
    });
  });
  for (const link of network.links) {
    if (!graph.hasNode(link.subject.id) || !graph.hasNode(link.object.id)) continue;
    const color = link.ended ? colors.ended : signColor(link.sign);
    graph.addEdgeWithKey(link.key, link.subject.id, link.object.id, { size: 0.8 + Math.min(2, link.strength), color: blended(color, colors.paper, 0.7), weight: Math.max(0.05, link.strength) });
  }
  const count = graph.order;
  if (count > 2) {
    const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: count > 300, barnesHutTheta: count > 2000 ? 1.2 : 0.5, strongGravityMode: true, gravity: 0.05 };
    forceAtlas2.assign(graph, { iterations: count > 2000 ? 10 : count > 500 ? 80 : 200, settings });
  }
  return graph;
}

interface Props {
  network: Network;
  seeds: string[];
  filters: ViewFilter;
  version: string;
  onPick: (what: string) => void;
  onAct: (action: "expand" | "hide" | "pin" | "open", id: string) => void;
}

export function NetworkView({ network, seeds, filters, version, onPick, onAct }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<Sigma | null>(null);
  useEffect(() => {
    if (!box.current) return;
    const colors = palette();
    const [few, many] = [network.nodes.length <= 60, network.nodes.length > 1500];
    const sigma = new Sigma(graphOf(network, seeds, filters), box.current, {
      labelColor: { color: colors.ink }, labelSize: 12, labelFont: "system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
      labelRenderedSizeThreshold: many ? 9 : 3, labelDensity: many ? 0.5 : few ? 3 : 1, labelGridCellSize: few ? 70 : 110, hideEdgesOnMove: many, hideLabelsOnMove: many,
      enableEdgeEvents: !many, defaultEdgeType: "arrow", zIndex: false, allowInvalidContainer: true,
      enableCameraPanning: !many,
    });
    shown.current = sigma;
    (globalThis as { liantuSigma?: Sigma }).liantuSigma = sigma;
    sigma.on("clickNode", ({ node }) => onPick(`n:${node}`));
    sigma.on("clickEdge", ({ edge }) => onPick(`l:${edge}`));
    sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      onAct("expand", node);
    });
    const snapshot = () => box.current && snap(sigma, box.current);
    addEventListener("liantu-snapshot", snapshot);
    const stop = many ? dragAsImage(sigma, box.current) : () => undefined;
    return () => {
      removeEventListener("liantu-snapshot", snapshot);
      stop();
      sigma.kill();
      shown.current = null;
    };
  }, [version]);
  const zoom = (factor: number) => () => {
    const camera = shown.current?.getCamera();
    if (camera) camera.setState({ ratio: factor === 0 ? 1 : camera.ratio * factor, ...(factor === 0 ? { x: 0.5, y: 0.5 } : {}) });
  };
  const onKey = (event: KeyboardEvent) => {
    const camera = shown.current?.getCamera();
    const step: Record<string, [number, number]> = { ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] };
    const move = step[event.key];
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1 / 1.3 : 1.3)();
    else if (camera && move) camera.setState({ x: camera.x + move[0] * camera.ratio, y: camera.y + move[1] * camera.ratio });
    else return;
    event.preventDefault();
  };
  return (
    <div class="network">
      <div class="canvas" ref={box} tabIndex={0} role="application" aria-label={t("network")} onKeyDown={onKey} />
      <div class="zoom">
        <button type="button" aria-label={t("zoom_in")} onClick={zoom(1 / 1.4)}>+</button>
        <button type="button" aria-label={t("zoom_out")} onClick={zoom(1.4)}>−</button>
        <button type="button" onClick={zoom(0)}>{t("fit")}</button>
      </div>
    </div>
  );
}

const IDLE = 150;

/**
 * Drag thousands of nodes as one image and draw them anew where they are dropped: without a graphics processor, drawing
 * them in every frame is too slow.
 */
function dragAsImage(sigma: Sigma, box: HTMLElement): () => void {
  let image: HTMLCanvasElement | undefined;
  let start: { x: number; y: number } | null = null;
  let moved = { x: 0, y: 0 };
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      sigma.off("afterRender", later);
      image = snap(sigma, box);
      sigma.on("afterRender", later);
    }, IDLE);
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || (event.target as HTMLElement).closest("button")) return;
    start = { x: event.clientX, y: event.clientY };
    moved = { x: 0, y: 0 };
  };
  const move = (event: PointerEvent) => {
    if (!start) return;
    moved = { x: event.clientX - start.x, y: event.clientY - start.y };
    if (Math.abs(moved.x) + Math.abs(moved.y) < 4) return;
    image ??= snap(sigma, box);
    if (!image) return;
    image.hidden = false;
    box.classList.add("dragged");
    image.style.transform = `translate3d(${moved.x}px, ${moved.y}px, 0)`;
  };
  const up = () => {
    if (!start) return;
    start = null;
    if (!box.classList.contains("dragged")) return;
    const camera = sigma.getCamera();
    const from = sigma.viewportToFramedGraph({ x: 0, y: 0 });
    const to = sigma.viewportToFramedGraph(moved);
    camera.setState({ x: camera.x + from.x - to.x, y: camera.y + from.y - to.y });
    requestAnimationFrame(() => {
      box.classList.remove("dragged");
      if (image) {
        image.hidden = true;
        image.style.transform = "";
      }
    });
  };
  sigma.on("afterRender", later);
  later();
  box.addEventListener("pointerdown", down);
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  return () => {
    clearTimeout(timer);
    sigma.off("afterRender", later);
    box.removeEventListener("pointerdown", down);
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
  };
}

/** Copy the layers of the drawing into one canvas, in the frame in which they are drawn. */
function snap(sigma: Sigma, box: HTMLElement): HTMLCanvasElement | undefined {
  sigma.refresh();
  const layers = [...box.querySelectorAll<HTMLCanvasElement>("canvas:not(.snapshot)")];
  const first = layers[0];
  if (!first) return undefined;
  const found = box.querySelector<HTMLCanvasElement>("canvas.snapshot") ?? document.createElement("canvas");
  found.className = "snapshot";
  found.hidden = true;
  found.width = first.width;
  found.height = first.height;
  const context = found.getContext("2d")!;
  context.fillStyle = palette().paper;
  context.fillRect(0, 0, found.width, found.height);
  for (const layer of layers) context.drawImage(layer, 0, 0);
  found.style.width = first.style.width;
  found.style.height = first.style.height;
  box.append(found);
  return found;
}
