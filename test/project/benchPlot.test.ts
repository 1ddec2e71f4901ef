import { readFileSync } from "node:fs";
import path from "node:path";
import { DARK, LABELS, LIGHT, plot } from "../../bench/plot";
import { withTable } from "../../bench/readme";
import { reaches } from "../../bench/runner";
import { REPOSITORY } from "../support/sources";

type Rows = Parameters<typeof plot>[0];

const read = (file: string) => readFileSync(path.join(REPOSITORY, "bench", file), "utf8");
const { benchmarks } = JSON.parse(read("results.json")) as { benchmarks: Record<string, { rows: Rows }> };
const rows = Object.values(benchmarks).flatMap((benchmark) => benchmark.rows);
const ratios = rows.filter(({ judged }) => judged === "ratio");
const svg = plot(rows);

/** Returns the labels of a class of the picture. */
const texts = (kind: string) =>
  [...svg.matchAll(new RegExp(`<text class="${kind}[^"]*" [^>]*>([^<]*)<`, "g"))].map(([, text = ""]) => text);

/** Returns a wide estimate of the width of a label, in units of the picture. */
const widthOf = (text: string, size: number) => text.length * size * 0.53;

test("the benchmark picture is drawn from the recorded figures", () => {
  expect(read("results.svg")).toBe(svg);
});

test("the table of the README is written from the recorded figures", () => {
  expect(withTable(read("README.md"), rows)).toBe(read("README.md"));
});

test("no label of the picture is clipped, and each missed target is explained", () => {
  expect(texts("label")).toHaveLength(2 * ratios.length);
  expect(texts("label").filter((label) => widthOf(label, 13) > LABELS)).toEqual([]);
  const notes = texts("note");
  expect(notes).toHaveLength(ratios.filter((row) => !reaches(row)).length);
  expect(notes.filter((note) => note.endsWith("see below") || widthOf(note, 12) > 1000 - LABELS)).toEqual([]);
});

test("better figures and marks are drawn further right, whether lower or higher values are better", () => {
  const base = { what: "w", unit: "s", against: "a", judged: "ratio" } as const;
  const centers = (...each: Rows) => [
    ...plot(each).matchAll(/<circle class="dot \w+" cx="(\d+)" cy="\d+" r="5"\/><text class="value/g),
  ];
  const [fast, slow] = centers(
    { ...base, ours: [1], theirs: [2], mark: { atMost: 1 } },
    { ...base, ours: [2], theirs: [1], mark: { atMost: 1 } },
  ).map(([, x]) => Number(x));
  const [many, few] = centers(
    { ...base, ours: [2], theirs: [1], mark: { atLeast: 1 } },
    { ...base, ours: [1], theirs: [2], mark: { atLeast: 1 } },
  ).map(([, x]) => Number(x));
  expect([fast, slow]).toEqual([many, few]);
  expect(fast).toBeGreaterThan(slow ?? 0);
});

/** Returns the relative luminance of a color (WCAG 2). */
function luminance(color: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((service) =>
    service <= 0.03928 ? service / 12.92 : ((service + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.each([
  ["light", LIGHT],
  ["dark", DARK],
])("the colors have a contrast of at least 4.5: %s", (_scheme, { back, ...colors }) => {
  for (const color of Object.values(colors)) {
    const [dark = 0, light = 0] = [luminance(color), luminance(back)].sort((a, b) => a - b);
    expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(4.5);
  }
});
