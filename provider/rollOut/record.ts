import { createHash } from "node:crypto";
import type { AccountIdentity } from "../connection/account";
import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { isObject, type Properties, pick } from "../properties";
import { PHASES, type RollOutRecord } from "./decide";
import { seal, unseal } from "./seal";

/** This machine's record of an endpoint's roll-out. */
export interface RecordOfMachine {
  /** `undefined` without a record. `"sealed"` if it was written with another key. */
  readonly read: () => RollOutRecord | "sealed" | undefined;
  readonly write: (record: RollOutRecord) => void;
  readonly remove: () => void;
}

export function recordOfMachine(id: string, { service, apiKey }: AccountIdentity): RecordOfMachine {
  const subject: Subject = { service, noun: "endpoint roll-out", key: id };
  return {
    read() {
      const sealed = readRecord(subject)?.sealed;
      const properties = unseal(apiKey, sealed);
      return sealed !== undefined && !properties ? "sealed" : parse(properties);
    },
    write: (record) => {
      writeRecord(subject, { sealed: seal(apiKey, { ...record }) });
    },
    remove: () => removeRecord(subject),
  };
}

function parse(properties: Properties | undefined): RollOutRecord | undefined {
  const { inputs, release, former, reason, version } = properties ?? {};
  const phase = PHASES.find((each) => each === properties?.phase);
  if (!phase || !isObject(release) || !isObject(former)) return undefined;
  const passed = typeof version === "number" ? { version } : {};
  return { phase, inputs: String(inputs), release, former, reason: String(reason), ...passed };
}

/** Returns a digest of the program's inputs. */
export function digestOf(inputs: Properties): string {
  const own = pick(inputs, (name) => !name.startsWith("__"));
  return createHash("sha256")
    .update(JSON.stringify(sorted(own)))
    .digest("hex");
}

/** The engine may pass the keys of objects in any order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, sorted(value[name])]);
}
