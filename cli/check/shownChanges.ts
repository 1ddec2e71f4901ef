import { isDeepStrictEqual } from "node:util";
import { UNKNOWN } from "../../provider/engine/properties";
import type { Planned, Side } from "./preview";

/** The settings whose values are shown. None of them can contain a secret. */
const SHOWN = [
  ...["workersMin", "workersMax", "scalerType", "scalerValue", "idleTimeout", "executionTimeoutMs", "flashBootType"],
  ...["gpuIds", "gpuCount", "instanceIds", "locations", "minCudaVersion", "allowedCudaVersions"],
  ...["name", "templateId", "imageName", "networkVolumeId", "networkVolumeIds", "type"],
];

const WORDS = {
  create: "created",
  delete: "deleted",
  replace: "replaced",
  same: "unchanged",
  update: "updated",
} as const;

const LONGEST = 60;

/** Returns what changes in an endpoint, with its old and new values. */
export function shownChanges({ op, before, taken, after, takes, isRetained, declared }: Planned): string {
  const word = takes ? "taken over" : isRetained && op === "delete" ? "released" : WORDS[op];
  const old = taken ?? before.find(({ id }) => id === after?.id) ?? before[0];
  if (!after || !old || op === "same" || op === "delete") return word;
  const changed = SHOWN.filter((field) => declared.includes(field) && !isSame(field, old, after)).map(
    (field) => `${field} ${shown(old.values[field])} → ${shown(after.values[field])}`,
  );
  if (changed.length === 0) return word;
  return op === "update" && !takes ? changed.join(", ") : `${word}: ${changed.join(", ")}`;
}

const plain = (value: unknown) => (Array.isArray(value) ? value.join(",") : (value ?? ""));
const isSame = (field: string, old: Side, after: Side) =>
  isDeepStrictEqual(plain(old.values[field]), plain(after.values[field]));

function shown(value: unknown): string {
  const text = String(plain(value));
  if (text.includes(UNKNOWN)) return "?";
  if (text === "") return "unset";
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
