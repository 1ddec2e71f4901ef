import type { BatchResult } from "../../sdk";
import { emptyInputWarnings } from "../../sdk/jobs/jobRequest";
import { hashOfInput } from "../../sdk/journal/itemKey";
import { KeyIndex } from "../../sdk/journal/keyIndex";
import { say } from "../terminal";
import { type BatchFlags, withFlagNames } from "./batchFlags";
import { inputLines, keyIn } from "./inputLines";
import type { OutputFile } from "./outputFile";
import type { Tally } from "./progress";

/** The lines of the input file. */
export class BatchInputs {
  /** `true` if the file was read to its end. */
  isWhole = false;
  readonly #flags: BatchFlags;
  readonly #file: OutputFile;
  readonly #tally: Tally;
  readonly #numbers = new WeakMap<object, number>();
  /** The number of the first line with each key. */
  readonly #first = new KeyIndex();

  constructor(flags: BatchFlags, file: OutputFile, tally: Tally) {
    this.#flags = flags;
    this.#file = file;
    this.#tally = tally;
  }

  /** Yields the inputs whose result is not in the output. */
  async *read(): AsyncGenerator<object, void, undefined> {
    const { input = "", key: field, failed } = this.#flags;
    // Inputs are read only after the journal was opened, so this run may submit them again.
    if (failed === "submit") await this.#file.removeFailed();
    for await (const { given, number } of inputLines(input)) {
      this.#tally.read++;
      for (const warning of emptyInputWarnings(given)) say(`${input}, line ${number}: ${warning}`);
      this.#numbers.set(given, number);
      const key = attempt(() => (field === undefined ? hashOfInput(given) : keyIn(given, field)));
      if (key !== "" && this.#first.get(key) === undefined) this.#first.set(key, number);
      const written = this.#file.get(key);
      if (!written) yield given;
      else if (written.hash !== undefined && written.hash !== this.hashOf(given)) this.#refuse(given, key);
      else this.#tally[written.isFailed ? "failed" : "done"]++;
    }
    this.#tally.total = this.#tally.read;
    this.isWhole = true;
  }

  /** Returns the hash of an input whose key does not depend on the whole input. */
  hashOf(given: object): string | undefined {
    return this.#flags.key === undefined ? undefined : hashOfInput(given).slice(0, 12);
  }

  /** Returns the index of a result: the number of the first line with its key, from 0. */
  indexOf({ input, key = "" }: BatchResult<object>): number {
    return (this.#first.get(key) ?? this.#numbers.get(input) ?? 1) - 1;
  }

  /** Counts an input whose job has ended. */
  count(isFailed: boolean): void {
    this.#tally[isFailed ? "failed" : "done"]++;
    this.#tally.ended++;
  }

  /** Counts an input without a result, and says why it has none. */
  without(given: object, key: string, reason: string): void {
    this.#tally.without++;
    const number = this.#numbers.get(given);
    const first = this.#first.get(key);
    const same = first === undefined || first === number ? "" : ` (line ${first} has the same key)`;
    say(`${this.#flags.input}, line ${number}${same}: ${withFlagNames(reason, key)}`);
  }

  #refuse(given: object, key: string): void {
    this.without(
      given,
      key,
      `the output has the result of another input with the key ${JSON.stringify(key)}, so this input was not submitted. If the ` +
        "input has changed, give it another key, or run it with another --name and --output",
    );
  }
}

/** Ignores a failing key function: the batch itself reports inputs without a key. */
function attempt(key: () => string): string {
  try {
    return key();
  } catch {
    return "";
  }
}
