import { InvalidArgumentError } from "commander";
import { EXECUTION_TIMEOUT_MS } from "../../../sdk/contract/limits";
import { didYouMean } from "../../didYouMean";
import { parseNumber } from "../values";
import type { Settings } from "./endpoints";
import { RULE_SETTING, type Values, withSchedule, withSetting } from "./schedule";

/** A setting, and the values to try for it. */
export interface SweepAxis {
  readonly field: string;
  readonly values: readonly unknown[];
}

const MOST_SETTINGS = 1000;

const whole = parseNumber(0, 1000, true);
const SCALER_TYPES = ["QUEUE_DELAY", "REQUEST_COUNT"];

const PARSERS: Readonly<Record<keyof Settings, (text: string) => unknown>> = {
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
  schedule(text) {
    try {
      return text === "off" ? undefined : (JSON.parse(text) as unknown);
    } catch {
      throw new InvalidArgumentError('Give the schedule as JSON, such as {"timeZone":"UTC","rules":[…]}, or off.');
    }
  },
};

function parseHour(text: string): string {
  if (/^([01]?\d|2[0-3])(:[0-5]\d)?$/.test(text)) return text;
  throw new InvalidArgumentError(`"${text}" is not a time of day. Give an hour, such as 7, or 7:30.`);
}

/** Parses `workersMin=1` and adds it to the previous settings. */
export function parseSetting(text: string, before: Values = {}): Values {
  const [, field = "", value = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  const parse = parserOf(field, "a setting and its value, such as workersMin=1 or flashBoot=on");
  return { ...before, [field]: parse(value) };
}

function parserOf(field: string, wanted: string): (text: string) => unknown {
  const [, part = field] = RULE_SETTING.exec(field) ?? [];
  if (part === "hour" && part !== field) return parseHour;
  if (Object.hasOwn(PARSERS, part)) return PARSERS[part as keyof Settings];
  throw new InvalidArgumentError(`Give ${wanted}.${didYouMean(field, Object.keys(PARSERS))}`);
}

/** Parses `workersMin=0..3` or `scalerValue=1,2,4`. */
export function parseAxis(text: string, before: readonly SweepAxis[] = []): readonly SweepAxis[] {
  const [, field = "", list = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  const parse = parserOf(field, "a setting and its values, such as workersMin=0..3 or scalerValue=1,2,4");
  if (before.some((axis) => axis.field === field)) throw new InvalidArgumentError(`${field} is given twice.`);
  const values = list.split(",").flatMap((part) => {
    const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(part) ?? [];
    if (from === undefined || to === undefined) return [parse(part)];
    const length = Number(to) - Number(from) + 1;
    if (length >= 1 && length <= MOST_SETTINGS)
      return Array.from({ length }, (_, index) => parse(String(Number(from) + index)));
    throw new InvalidArgumentError(`"${part}" is not a range of at most ${MOST_SETTINGS} numbers.`);
  });
  return [...before, { field, values: [...new Set(values)] }];
}

/** Returns all combinations of the axes that the service accepts, and counts the others. */
export function combinations(base: Settings, axes: readonly SweepAxis[]): { settings: Settings[]; refused: number } {
  const size = axes.reduce((product, { values }) => product * values.length, 1);
  if (size > MOST_SETTINGS) throw new Error(`--sweep has ${size} settings: at most ${MOST_SETTINGS} are possible`);
  const [rule = {}] = base.schedule?.rules ?? [];
  const decided = axes.find(({ field }) => field !== "cron" && field in rule)?.field;
  if (decided)
    throw new Error(
      `--sweep ${decided}: the schedule sets this. To sweep it in the first rule: --sweep ${decided}1=0..3`,
    );
  let all: Settings[] = [base];
  for (const { field, values } of axes)
    all = all.flatMap((each) => values.map((value) => withSetting(each, [field, value])));
  const settings = all.flatMap(accepted);
  if (settings.length > 0) return { settings, refused: all.length - settings.length };
  throw new Error("--sweep has no setting that the service accepts");
}

/** Returns the settings, or nothing if the service would refuse them. */
function accepted(settings: Settings): Settings[] {
  try {
    const each = withSchedule(settings);
    return each.workersMin <= each.workersMax && each.workersMax > 0 ? [each] : [];
  } catch {
    return [];
  }
}
