import { InvalidArgumentError } from "commander";
import { EXECUTION_TIMEOUT_MS } from "../../../sdk/contract/limits";
import { didYouMean } from "../../didYouMean";
import { parseNumber } from "../values";
import type { Settings } from "./endpoints";

/** A setting, and the values to try for it. */
export interface SweepAxis {
  readonly field: keyof Settings;
  readonly values: readonly (number | string | boolean)[];
}

const MOST_SETTINGS = 1000;

const whole = parseNumber(0, 1000, true);
const SCALER_TYPES = ["QUEUE_DELAY", "REQUEST_COUNT"];

const PARSERS: Readonly<Record<keyof Settings, (text: string) => number | string | boolean>> = {
  workersMin: whole,
  workersMax: whole,
  idleTimeout: parseNumber(0, 3600),
  scalerValue: parseNumber(0.001, 100_000),
  scalerType(text) {
    if (SCALER_TYPES.includes(text)) return text;
    throw new InvalidArgumentError(`"${text}" is neither ${SCALER_TYPES.join(" nor ")}.`);
  },
  flashBoot(text) {
    if (text === "on" || text === "off") return text === "on";
    throw new InvalidArgumentError(`"${text}" is neither on nor off.`);
  },
  gpuIds: (text) => text,
  gpuCount: parseNumber(1, 1000, true),
  executionTimeoutMs: parseNumber(1, EXECUTION_TIMEOUT_MS.max, true),
  instanceIds: (text) => text,
};

/** Parses `workersMin=1` and adds it to the previous settings. */
export function parseSetting(text: string, before: Partial<Settings> = {}): Partial<Settings> {
  const [, field = "", value = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  assertSetting(field, "a setting and its value, such as workersMin=1 or flashBoot=on");
  return { ...before, [field]: PARSERS[field](value) };
}

function assertSetting(field: string, wanted: string): asserts field is keyof Settings {
  if (Object.hasOwn(PARSERS, field)) return;
  throw new InvalidArgumentError(`Give ${wanted}.${didYouMean(field, Object.keys(PARSERS))}`);
}

/** Parses `workersMin=0..3` or `scalerValue=1,2,4`. */
export function parseAxis(text: string, before: readonly SweepAxis[] = []): readonly SweepAxis[] {
  const [, field = "", list = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  assertSetting(field, "a setting and its values, such as workersMin=0..3 or scalerValue=1,2,4");
  if (before.some((axis) => axis.field === field)) throw new InvalidArgumentError(`${field} is given twice.`);
  const parse = PARSERS[field];
  const values = list.split(",").flatMap((part) => {
    const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(part) ?? [];
    if (from === undefined || to === undefined) return [parse(part)];
    const length = Number(to) - Number(from) + 1;
    if (length >= 1 && length <= MOST_SETTINGS) return Array.from({ length }, (_, index) => Number(from) + index);
    throw new InvalidArgumentError(`"${part}" is not a range of at most ${MOST_SETTINGS} numbers.`);
  });
  return [...before, { field, values: [...new Set(values)] }];
}

/** Returns all combinations of the axes that the service accepts, and counts the others. */
export function combinations(base: Settings, axes: readonly SweepAxis[]): { settings: Settings[]; refused: number } {
  const size = axes.reduce((product, { values }) => product * values.length, 1);
  if (size > MOST_SETTINGS) throw new Error(`--sweep has ${size} settings: at most ${MOST_SETTINGS} are possible`);
  let all: Settings[] = [base];
  for (const { field, values } of axes)
    all = all.flatMap((each) => values.map((value) => ({ ...each, [field]: value })));
  const settings = all.filter(({ workersMin, workersMax }) => workersMin <= workersMax && workersMax > 0);
  if (settings.length > 0) return { settings, refused: all.length - settings.length };
  throw new Error("--sweep has no setting with workersMin ≤ workersMax");
}
