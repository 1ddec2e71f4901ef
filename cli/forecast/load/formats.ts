import type { Duration } from "../../../emulator/forecast/load";

/** Facts that a file alone does not give. */
export interface FormatOptions {
  /** The time of each job, for formats without durations. */
  readonly duration: Duration | undefined;
  /** Tokens a second, for formats with tokens. */
  readonly prefill: number | undefined;
  readonly decode: number | undefined;
}

/** Adds a job, in seconds. Arrivals count from any time. */
export type Emit = (arrivalS: number, durationS: number) => void;

/** A kind of file with a job, or counts of jobs, in each row. */
export interface Format {
  readonly name: string;
  /** The columns by which the format is recognised. Other columns are allowed. */
  readonly columns: readonly string[];
  /** `true` if the rows are in the order of arrival. */
  readonly sorted: boolean;
  /** The options that the format needs. */
  readonly needs: readonly (keyof FormatOptions)[];
  /** Reads a row. `cell` returns the text of a column. */
  row(cell: (column: string) => string, options: Required<Complete>, emit: Emit): void;
}

/** Options that are checked: those that the format needs are set. */
interface Complete {
  duration: () => number;
  prefill: number;
  decode: number;
}

const tokens = (request: string, response: string): Format["row"] => {
  return (cell, { prefill, decode }, emit) => {
    const seconds = number(cell, request) / prefill + number(cell, response) / decode;
    emit(cell("TIMESTAMP") === "" ? number(cell, "Timestamp") : timestamp(cell("TIMESTAMP")), seconds);
  };
};

const MINUTES = Array.from({ length: 1440 }, (_, minute) => String(minute + 1));

export const FORMATS: readonly Format[] = [
  {
    name: "arrivals and durations",
    columns: ["arrival_s", "duration_s"],
    sorted: true,
    needs: [],
    row: (cell, _, emit) => emit(number(cell, "arrival_s"), number(cell, "duration_s")),
  },
  {
    name: "Azure LLM inference trace",
    columns: ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
    sorted: true,
    needs: ["prefill", "decode"],
    row: tokens("ContextTokens", "GeneratedTokens"),
  },
  {
    name: "Azure Functions invocation trace 2021",
    columns: ["app", "func", "end_timestamp", "duration"],
    sorted: false,
    needs: [],
    row(cell, _, emit) {
      const duration = number(cell, "duration");
      emit(number(cell, "end_timestamp") - duration, duration);
    },
  },
  {
    name: "Azure Functions trace 2019",
    columns: ["Trigger", "1", "1440"],
    sorted: false,
    needs: ["duration"],
    row(cell, { duration }, emit) {
      for (const [index, minute] of MINUTES.entries()) {
        const count = cell(minute) === "" ? 0 : number(cell, minute);
        for (let job = 0; job < count; job++) emit((index + (job + 0.5) / count) * 60, duration());
      }
    },
  },
  {
    name: "BurstGPT trace",
    columns: ["Timestamp", "Model", "Request tokens", "Response tokens"],
    sorted: true,
    needs: ["prefill", "decode"],
    row: tokens("Request tokens", "Response tokens"),
  },
];

/** Lines of JSON, recognised by their first fields. */
export const MOONCAKE: Format = {
  name: "Mooncake trace",
  columns: ["timestamp", "input_length", "output_length"],
  sorted: true,
  needs: ["prefill", "decode"],
  row: (cell, { prefill, decode }, emit) =>
    emit(
      number(cell, "timestamp") / 1000,
      number(cell, "input_length") / prefill + number(cell, "output_length") / decode,
    ),
};

function number(cell: (column: string) => string, column: string): number {
  const text = cell(column);
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) throw new Error(`${column} is "${text}", which is not a number`);
  if (value < 0) throw new Error(`${column} is ${text}: it must not be negative`);
  return value;
}

/** Returns the seconds of a date such as `2023-11-16 18:15:46.6805900`, which is in UTC. */
function timestamp(text: string): number {
  const ms = Date.parse(`${text.slice(0, 23).replace(" ", "T").replace(/\+.*$/, "")}Z`);
  if (Number.isNaN(ms)) throw new Error(`TIMESTAMP is "${text}", which is not a date`);
  return ms / 1000;
}
