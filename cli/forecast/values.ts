import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  min: 60,
  m: 60,
  h: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400,
  month: 2_629_800,
};

/** The number of seconds in a month (a twelfth of a year). */
export const MONTH_S = 2_629_800;

/** Parses a duration such as `90s` or `2m` into seconds (≥ 0). A bare number means seconds. */
export function parseTime(text: string): number {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/.exec(text.trim()) ?? [];
  const factor = UNITS[unit || "s"];
  if (number !== undefined && factor !== undefined) return Number(number) * factor;
  throw new InvalidArgumentError(`"${text}" is not a time. Give a number with ms, s, m, h or d, such as 90s.`);
}

/** Parses a rate such as `5/m` into jobs per second (> 0). */
export function parseRate(text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*\/\s*([a-z]+)$/.exec(text.trim()) ?? [];
  const factor = UNITS[unit];
  if (Number(number) > 0 && factor !== undefined) return Number(number) / factor;
  throw new InvalidArgumentError(`"${text}" is not a rate. Give jobs per time, such as 3/s or 200/h.`);
}

/**
 * Returns a parser for two rates with a separator between them. A unit after the second rate
 * applies to both.
 */
export function parseRates(separator: string): (text: string) => readonly [number, number] {
  return (text) => {
    const [first = "", second = "", ...more] = text.split(separator);
    const unit = /\/.*$/.exec(second)?.[0] ?? "";
    if (more.length === 0 && unit !== "") {
      const low = first.includes("/") ? first : `${first}${unit}`;
      return [/^0+(\.0+)?\//.test(low.trim()) ? 0 : parseRate(low), parseRate(second)];
    }
    throw new InvalidArgumentError(`"${text}" is not a pair of rates, such as 1${separator}5/s.`);
  };
}

/** Parses a duration or a range of durations such as `2s..10s`. */
export function parseDuration(text: string): { fromS: number; toS: number } {
  const [from = "", to = from] = text.split("..");
  const duration = { fromS: parseTime(from), toS: parseTime(to) };
  if (duration.fromS <= duration.toS) return duration;
  throw new InvalidArgumentError(`"${text}" is not a range: its first time is the longer one.`);
}

/** Returns a parser for a number within a range. */
export function parseNumber(min: number, max: number, whole = false): (text: string) => number {
  return (text) => {
    const number = Number(text);
    const fits = text.trim() !== "" && number >= min && number <= max && (!whole || Number.isInteger(number));
    if (fits) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`"${text}" is not a ${whole ? "whole " : ""}number ${range}.`);
  };
}

/** Returns a parser for a comma-separated list. */
export function parseList<T>(parse: (text: string) => T): (text: string) => T[] {
  return (text) => text.split(",").map((part) => parse(part.trim()));
}

/** Parses a cost such as `50/month` into US dollars a month. */
export function parseCost(text: string): number {
  const [, number, unit = ""] = /^\$?(\d+(?:\.\d+)?)\s*\/\s*([a-z]+)$/.exec(text.trim()) ?? [];
  const factor = UNITS[unit];
  if (number !== undefined && factor !== undefined) return (Number(number) / factor) * MONTH_S;
  throw new InvalidArgumentError(`"${text}" is not a cost. Give US dollars per time, such as 50/month or 2/day.`);
}
