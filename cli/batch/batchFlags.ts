export interface BatchFlags {
  readonly input?: string;
  readonly output?: string;
  readonly journal?: string;
  readonly name?: string;
  readonly key?: string;
  readonly concurrency?: number;
  readonly uncertain?: "submit";
  readonly expired?: "submit";
  readonly failed?: "keep" | "submit" | "accept";
  readonly store?: "results";
  readonly partial?: boolean;
  readonly settle?: string;
  readonly api?: string;
  readonly forget?: boolean;
  readonly printSql?: boolean;
}

/** Replaces the options of `runMany` in a message about an input with the command's flags. */
export function withFlagNames(message: string, key: string): string {
  const line = `{"key": ${JSON.stringify(key)}, "jobId": "…"}`;
  return message
    .replace(/run the batch with (uncertain|expired): "submit"$/, "run the command with --$1 submit")
    .replace(/\. Submit it again$/, ". To run its input again, run the command with --expired submit")
    .replace("record the job's id", `pass it with --settle, as ${line}`)
    .replace(
      "or submit with idempotent: true if",
      `pass a job that you find with --settle, as ${line}, or run the command with --uncertain submit if`,
    );
}

/** Returns `true` if `--journal` is the URL of a database. */
export function isDatabase(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}
