import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { COMPILE_CACHE } from "../../support/compiledCode";
import { MAIN } from "../command";

const TYPE = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";
const URN = `urn:pulumi:dev::test::${TYPE}::llama`;
jest.setTimeout(120_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "forecast-pictures-"));
  const rows = Array.from({ length: 120 }, (_, index) => `${index * 30},2`);
  writeFileSync(path.join(folder, "jobs.csv"), `arrival_s,duration_s\n${rows.join("\n")}`);
  const perSecond = { AMPERE_24: 0.0001, ADA_80_PRO: 0.0014 };
  writeFileSync(path.join(folder, "prices.json"), JSON.stringify({ date: "2026-01-01", perSecond }));
  // An engine whose stack and program have the settings in two files.
  const engine =
    '#!/bin/sh\ncd "$(dirname "$0")"\nif [ "$1" = stack ]; then cat state.json; else cat preview.json; fi\n';
  writeFileSync(path.join(folder, "pulumi"), engine, { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true }));

function forecast(...args: string[]): Promise<string> {
  const env = { ...process.env, ...COMPILE_CACHE, PATH: `${folder}:${process.env.PATH}` };
  return new Promise((resolve, reject) => {
    const all = [
      MAIN,
      "forecast",
      "--load",
      "jobs.csv",
      "--for",
      "1h",
      "--seeds",
      "3",
      "--stack",
      "--program",
      ...args,
    ];
    execFile(process.execPath, all, { cwd: folder, env }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}

function change(before: object, after: object): void {
  const resource = { urn: URN, type: TYPE };
  writeFileSync(
    path.join(folder, "state.json"),
    JSON.stringify({ deployment: { resources: [{ ...resource, outputs: before }] } }),
  );
  const steps = [{ op: "update", urn: URN, oldState: { outputs: before }, newState: { ...resource, inputs: after } }];
  writeFileSync(path.join(folder, "preview.json"), JSON.stringify({ steps }));
}

const OLD = { gpuIds: "AMPERE_24", gpuCount: 1, workersMax: 3, templateId: "t" };

/** Returns the numbers in the texts of a page or picture, without those at the axes. */
function numbersIn(html: string): string[] {
  const texts = html
    .replace(/<style>.*?<\/style>/gs, "")
    .replace(/<text class="tick (?:middle|end)"[^>]*>[^<]*<\/text>/g, "")
    .replace(/<[^>]+>/g, " ");
  return texts.match(/\d[\d,.]*\d|\d/g) ?? [];
}

/** Returns the points of the lines with this class in the picture. */
function lineEnds(svg: string, color: string): number[] {
  const lines = [...svg.matchAll(new RegExp(`<polyline class="line ${color}" points="([^"]+)"`, "g"))];
  return lines.map(([, points = ""]) => Number(points.split(" ").at(-1)?.split(",")[1]));
}

test.each<[string, object, string[]]>([
  ["the GPU pool", { ...OLD, gpuIds: "ADA_80_PRO" }, []],
  ["the number of GPUs", { ...OLD, gpuCount: 4 }, []],
  ["only the workers, at one price", { ...OLD, workersMin: 1 }, ["--prices", "0.002"]],
])("the page and the picture show the terminal's numbers for a change of %s", async (_, after, more) => {
  change(OLD, after);
  const args = [...(more.length > 0 ? more : ["--prices", "prices.json"]), "--pictures", "."];
  const stdout = await forecast(...args);
  const known = new Set(numbersIn(stdout));
  const page = readFileSync(path.join(folder, "forecast.html"), "utf8");
  const svg = readFileSync(path.join(folder, "forecast.svg"), "utf8");
  for (const text of [page, svg]) expect(numbersIn(text).filter((number) => !known.has(number))).toEqual([]);
  expect(svg).toContain(`${/cost a month +\S+ +(\S+)/.exec(stdout.slice(stdout.indexOf("After")))?.[1]} a month`);
  // The lines of the cost end at heights with the ratio of the two costs.
  const { results } = JSON.parse(await forecast(...args, "--json")) as { results: { cost: { middle: number } }[] };
  const [old, current] = results.map(({ cost }) => cost.middle) as [number, number];
  const bottom = Math.max(...[...svg.matchAll(/class="grid"[^>]* y1="([\d.]+)"/g)].map(([, y]) => Number(y)));
  const height = (color: string) => bottom - (lineEnds(svg, color).at(-1) ?? 0);
  expect(height("old") / height("c")).toBeCloseTo(old / current, 1);
  expect(old).not.toBeCloseTo(current, 4);
});

test("a page contains its charts once for wide windows and once for narrow ones", async () => {
  change(OLD, { ...OLD, gpuCount: 2 });
  await forecast("--prices", "prices.json", "--pictures", ".");
  const page = readFileSync(path.join(folder, "forecast.html"), "utf8");
  const widths = [...page.matchAll(/<svg class="fc (\w+)"[^>]* viewBox="0 0 (\d+) /g)].map((found) => found.slice(1));
  expect(widths).toEqual([
    ["wide", "860"],
    ["narrow", "400"],
  ]);
});
