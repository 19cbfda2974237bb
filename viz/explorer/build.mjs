// Builds the bundle and its licence texts into a folder, by default ../static/explorer. Same sources, same bytes.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../static/explorer"));
mkdirSync(out, { recursive: true });

const result = await build({
  absWorkingDir: here,
  entryPoints: { explorer: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = [...input.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1);
  if (found) packages.add(found[1]);
}
const texts = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${about.license}`;
  return `${name} ${about.version} (${about.license})\n\n${text}\n`;
});
writeFileSync(join(out, "LICENCES.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
const bytes = Object.entries(result.metafile.outputs).map(([file, { bytes: size }]) => `${file} ${size}`);
console.log(bytes.join("\n"));
