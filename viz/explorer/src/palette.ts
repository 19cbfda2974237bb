/** Colours by kind and sign, as in viz/palette.py; in China red means up, so + is vermilion and − is blue. */

export interface Palette {
  paper: string;
  ink: string;
  faint: string;
  line: string;
  lane: string;
  focus: string;
  plus: string;
  minus: string;
  neutral: string;
  fresh: string;
  ended: string;
  contested: string;
  kinds: Record<string, [fill: string, line: string]>;
}

const LIGHT: Palette = {
  paper: "#ffffff", ink: "#16202c", faint: "#4d5a69", line: "#c9d1db", lane: "#f4f6f9", focus: "#0b57d0",
  plus: "#b93413", minus: "#1a5f9e", neutral: "#76839a", fresh: "#0a7a43", ended: "#7a6a6a", contested: "#ffd24d",
  kinds: {
    company: ["#ffffff", "#475569"], product: ["#dcf3ea", "#00795a"], industry: ["#e8e4f8", "#5140a0"],
    business: ["#e2eefb", "#2b6cb0"], theme: ["#f8e3f0", "#a8327a"], indicator: ["#fff0c9", "#a06800"],
    event: ["#fde3d5", "#b8480a"], policy: ["#fbe4e4", "#9b2c2c"], region: ["#e9efd2", "#5d6b16"],
    institution: ["#e8eaee", "#374151"], person: ["#f4e9dc", "#7d5022"],
  },
};

const DARK: Palette = {
  paper: "#11161d", ink: "#e8edf3", faint: "#a9b5c3", line: "#3a4654", lane: "#181f28", focus: "#8ab4f8",
  plus: "#ff8a66", minus: "#74b5f2", neutral: "#8492a6", fresh: "#4cd38a", ended: "#a79c9c", contested: "#8a6d10",
  kinds: {
    company: ["#1d2733", "#93a4b8"], product: ["#0d3328", "#4fc7a1"], industry: ["#2a2350", "#a99bec"],
    business: ["#132e4a", "#76b0ec"], theme: ["#431a35", "#e58bc2"], indicator: ["#3b2c06", "#e3b04b"],
    event: ["#44220e", "#f0945c"], policy: ["#451b1b", "#ee8f8f"], region: ["#2b3110", "#bccb69"],
    institution: ["#252b33", "#aab4c2"], person: ["#3a2a18", "#d6a877"],
  },
};

export function isDark(): boolean {
  return document.documentElement.dataset.theme === "dark";
}

export function palette(): Palette {
  return isDark() ? DARK : LIGHT;
}

export function kindColors(kind: string): [string, string] {
  const { kinds } = palette();
  return kinds[kind] ?? kinds.company!;
}

export function signColor(sign: number): string {
  const colors = palette();
  return sign > 0 ? colors.plus : sign < 0 ? colors.minus : colors.neutral;
}

/** Mix two colours: sigma.js draws translucent ones too bright. */
export function blended(color: string, paper: string, share: number): string {
  const part = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
  return `#${[1, 3, 5].map((at) => Math.round(part(color, at) * share + part(paper, at) * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
}

export const DASHES: Record<string, string> = {
  asserted: "", planned: "12 4", forecast: "7 5", conditional: "7 4 2 4", rumoured: "2 5",
};
