import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { jsonOf, playedReport, textOf } from "../../../cli/forecast/forecast";
import type { ForecastFlags } from "../../../cli/forecast/forecastFlags";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import { writePictures } from "../../../cli/forecast/report/page";
import { settingsOf } from "../../../cli/forecast/settings/endpoints";

jest.setTimeout(120_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "forecast-pictures-"));
  const rows = Array.from({ length: 120 }, (_, index) => `${index * 30},2`);
  writeFileSync(path.join(folder, "jobs.csv"), `arrival_s,duration_s\n${rows.join("\n")}`);
  const perSecond = { AMPERE_24: 0.0001, ADA_80_PRO: 0.0014 };
  writeFileSync(path.join(folder, "prices.json"), JSON.stringify({ date: "2026-01-01", perSecond }));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Plays a change, and writes its pictures. */
async function played(
  before: object,
  after: object,
  prices: ForecastFlags["prices"] = path.join(folder, "prices.json"),
) {
  const read = readLoad(path.join(folder, "jobs.csv"), undefined, 3600);
  try {
    const named = Object.entries({ Before: before, After: after }).map(([title, values]) => ({
      title,
      settings: settingsOf({ urn: "llama", values: { ...values } }),
    }));
    const report = await playedReport({ seeds: 3, prices }, read, named);
    writePictures(folder, report);
    return report;
  } finally {
    read.close();
  }
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

test.each<[string, object, number | undefined]>([
  ["the GPU pool", { ...OLD, gpuIds: "ADA_80_PRO" }, undefined],
  ["the number of GPUs", { ...OLD, gpuCount: 4 }, undefined],
  ["only the workers, at one price", { ...OLD, workersMin: 1 }, 0.002],
])("the page and the picture show the terminal's numbers for a change of %s", async (_, after, price) => {
  const report = await played(OLD, after, price);
  const stdout = textOf(report, true);
  const known = new Set(numbersIn(stdout));
  const page = readFileSync(path.join(folder, "forecast.html"), "utf8");
  const svg = readFileSync(path.join(folder, "forecast.svg"), "utf8");
  for (const text of [page, svg]) expect(numbersIn(text).filter((number) => !known.has(number))).toEqual([]);
  expect(svg).toContain(`${/cost a month +\S+ +(\S+)/.exec(stdout.slice(stdout.indexOf("After")))?.[1]} a month`);
  // The lines of the cost end at heights with the ratio of the two costs.
  const { results } = jsonOf(report) as { results: { cost: { middle: number } }[] };
  const [old, current] = results.map(({ cost }) => cost.middle) as [number, number];
  const bottom = Math.max(...[...svg.matchAll(/class="grid"[^>]* y1="([\d.]+)"/g)].map(([, y]) => Number(y)));
  const height = (color: string) => bottom - (lineEnds(svg, color).at(-1) ?? 0);
  expect(height("old") / height("c")).toBeCloseTo(old / current, 1);
  expect(old).not.toBeCloseTo(current, 4);
});

test("a page contains its charts once for wide windows and once for narrow ones", async () => {
  await played(OLD, { ...OLD, gpuCount: 2 });
  const page = readFileSync(path.join(folder, "forecast.html"), "utf8");
  const widths = [...page.matchAll(/<svg class="fc (\w+)"[^>]* viewBox="0 0 (\d+) /g)].map((found) => found.slice(1));
  expect(widths).toEqual([
    ["wide", "860"],
    ["narrow", "400"],
  ]);
});
