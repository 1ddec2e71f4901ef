import { shownTime } from "../values";

/** A line or an area of a chart, with a value for each equal part of the time. */
export interface Series {
  readonly name: string;
  /** Its color class: `a` to `d`, or `old` for what it is compared with. */
  readonly color: "a" | "b" | "c" | "d" | "old";
  readonly kind: "line" | "area";
  readonly values: readonly number[];
  /** The bottom of an area for each value. @default 0 */
  readonly from?: readonly number[];
}

/** A chart over time. */
export interface Chart {
  readonly title: string;
  readonly series: readonly Series[];
  readonly shown: (value: number) => string;
}

/** A point in the sweep chart. */
export interface Point {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly isFront: boolean;
  readonly isCurrent: boolean;
}

const WIDTH = 860;
const LEFT = 72;
const RIGHT = 16;
const TOP = 46;
const PLOT = 150;
export const CHART_HEIGHT = TOP + PLOT + 34;
const SWEEP_PLOT = 330;
export const SWEEP_HEIGHT = TOP + SWEEP_PLOT + 52;
const GRID_LINES = 4;
const TIME_TICKS = 6;

/**
 * Colors that are legible on white and on black; the page and the picture follow the reader's
 * color scheme.
 */
export const STYLE = `
.fc text { fill: #24292f; font: 13px system-ui, sans-serif } .fc .title { font-weight: 600; font-size: 14px }
.fc .note { fill: #9a6700 } .fc .tick { fill: #57606a } .fc .end { text-anchor: end } .fc .middle { text-anchor: middle }
.fc .grid { stroke: #8b949e; stroke-opacity: .3 } .fc .line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
.fc .a { stroke: #0969da } .fc .b { stroke: #1a7f37 } .fc .c { stroke: #bf8700 } .fc .d { stroke: #8250df }
.fc .old { stroke: #6e7781; stroke-dasharray: 5 4 }
.fc polygon.area, .fc rect.area { stroke: none } .fc .area.a { fill: #0969da; fill-opacity: .22 } .fc .area.b { fill: #1a7f37; fill-opacity: .75 }
.fc .area.c { fill: #d4a72c; fill-opacity: .85 } .fc .area.d { fill: #8250df; fill-opacity: .6 }
.fc .point { fill: #8b949e; fill-opacity: .55 } .fc .front { fill: #1a7f37 } .fc .current { fill: none; stroke: #cf222e; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
.fc text { fill: #e6edf3 } .fc .note { fill: #d29922 } .fc .tick { fill: #9ea7b3 } .fc .a { stroke: #58a6ff } .fc .b { stroke: #3fb950 } .fc .c { stroke: #d29922 }
.fc .d { stroke: #bc8cff } .fc .old { stroke: #9ea7b3 } .fc .area.a { fill: #58a6ff } .fc .area.b { fill: #2ea043 }
.fc .area.d { fill: #a371f7 } .fc .front { fill: #3fb950 } .fc .current { stroke: #ff7b72 } }`;

/** Returns the elements of a chart, from the height `top` on. */
export function chart({ title, series, shown }: Chart, spanS: number, top: number): string {
  const most = niceCeiling(Math.max(...series.flatMap(({ values }) => values)));
  const x = (index: number, count: number) => round(LEFT + (index / count) * (WIDTH - LEFT - RIGHT));
  const y = (value: number) => round(top + TOP + PLOT * (1 - value / most));
  const path = (values: readonly number[]) => values.map((value, at) => `${x(at + 0.5, values.length)},${y(value)}`);
  const shapes = series.map(({ kind, color, values, from }) => {
    const line = path(values).join(" ");
    if (kind === "line") return `<polyline class="line ${color}" points="${line}"/>`;
    const bottom = path(from ?? values.map(() => 0))
      .reverse()
      .join(" ");
    return `<polygon class="area ${color}" points="${line} ${bottom}"/>`;
  });
  const times = Array.from({ length: TIME_TICKS + 1 }, (_, index) => {
    const text = shownTime((spanS * index) / TIME_TICKS);
    const anchor = index === TIME_TICKS ? "tick end" : "tick middle";
    return `<text class="${anchor}" x="${x(index, TIME_TICKS)}" y="${top + TOP + PLOT + 18}">${text}</text>`;
  });
  return [heading(title, series, top), ...grid(0, most, shown, y), ...shapes, ...times].join("\n");
}

/** Returns the elements of a sweep chart: cost to the right, delay upwards. */
export function sweepChart(points: readonly Point[], shownCost: (value: number) => string, top: number): string {
  const [lowX, highX] = axis(points.map((point) => point.x));
  const [lowY, highY] = axis(points.map((point) => point.y));
  const x = (value: number) => round(LEFT + ((value - lowX) / (highX - lowX)) * (WIDTH - LEFT - RIGHT - 20));
  const y = (value: number) => round(top + TOP + SWEEP_PLOT * (1 - (value - lowY) / (highY - lowY)));
  const bottom = top + TOP + SWEEP_PLOT;
  const front = points.filter(({ isFront }) => isFront).sort((a, b) => a.x - b.x);
  const steps = front.map((point) => `${x(point.x)},${y(point.y)}`).join(" ");
  const ticks = Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const value = lowX + ((highX - lowX) * index) / GRID_LINES;
    return `<text class="tick middle" x="${x(value)}" y="${bottom + 18}">${shownCost(value)}</text>`;
  });
  const marks = points.map((point) => {
    const at = `cx="${x(point.x)}" cy="${y(point.y)}"`;
    const title = `<title>${escaped(point.label)}</title>`;
    const ring = point.isCurrent ? `<circle class="current" ${at} r="9"/>` : "";
    return `<circle class="${point.isFront ? "front" : "point"}" ${at} r="5">${title}</circle>${ring}`;
  });
  return [
    `<text class="title" x="${LEFT}" y="${top + 18}">Sweep: p95 delay by monthly cost</text>`,
    `<text class="tick" x="${LEFT}" y="${top + 36}">green: no other setting is cheaper or faster without being worse; ring: current setting</text>`,
    ...grid(lowY, highY, shownTime, y),
    `<polyline class="line b" points="${steps}"/>`,
    ...marks,
    ...ticks,
    `<text class="tick end" x="${WIDTH - RIGHT}" y="${bottom + 38}">cost a month</text>`,
  ].join("\n");
}

const NOTE_LINE = 19;
/** Characters in a line of a note, at most. */
const NOTE_COLUMNS = 118;

/** Returns the elements of sentences at the top of a picture, in lines, and their height. */
export function noteLines(notes: readonly string[]): { elements: string; height: number } {
  const wrap = new RegExp(`(?=\\S).{1,${NOTE_COLUMNS}}(?=\\s|$)`, "g");
  const lines = notes.flatMap((note) => note.match(wrap) ?? []);
  const texts = lines.map(
    (line, at) => `<text class="note" x="16" y="${(at + 1) * NOTE_LINE}">${escaped(line)}</text>`,
  );
  return { elements: texts.join("\n"), height: lines.length * NOTE_LINE };
}

/** Returns a picture of these elements. */
export function svg(title: string, elements: string, height: number): string {
  const head = `<svg class="fc" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`;
  return `${head}\n<title>${escaped(title)}</title>\n${elements}\n</svg>`;
}

/** Returns a string without characters that have a meaning in HTML. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function heading(title: string, series: readonly Series[], top: number): string {
  let at = LEFT;
  const legend = series.map(({ name, color, kind }) => {
    const mark =
      kind === "line"
        ? `<line class="line ${color}" x1="${at}" x2="${at + 18}" y1="${top + 32}" y2="${top + 32}"/>`
        : `<rect class="area ${color}" x="${at}" y="${top + 26}" width="18" height="11"/>`;
    const text = `<text class="tick" x="${at + 24}" y="${top + 36}">${escaped(name)}</text>`;
    at += 44 + name.length * 7;
    return mark + text;
  });
  return `<text class="title" x="${LEFT}" y="${top + 18}">${escaped(title)}</text>${legend.join("")}`;
}

function grid(low: number, high: number, shown: (value: number) => string, y: (value: number) => number): string[] {
  return Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const value = low + ((high - low) * index) / GRID_LINES;
    const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>`;
    return `${line}<text class="tick end" x="${LEFT - 8}" y="${y(value) + 4}">${shown(value)}</text>`;
  });
}

/** Returns the smallest of 1, 2, 4, 6, 8 times a power of ten that is not below a value. */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Returns the ends of an axis: from 0, unless all values are in its upper half. */
function axis(values: readonly number[]): readonly [number, number] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least < most / 2 || most === 0) return [0, niceCeiling(most)];
  const step = niceCeiling(Math.max(most - least, most / 100) / GRID_LINES);
  const low = Math.floor(least / step) * step;
  return [low, low + GRID_LINES * step * (most > low + GRID_LINES * step ? 2 : 1)];
}

const round = (value: number) => Math.round(value * 10) / 10;
