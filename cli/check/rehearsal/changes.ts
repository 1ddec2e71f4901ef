import { isDeepStrictEqual } from "node:util";
import type { Emulator } from "../../../emulator";
import { classOf } from "../../stack";
import type { Step } from "./otherResources";

/** What happens to one resource. */
export interface Change {
  readonly resource: string;
  readonly kind: string;
  readonly what: "created" | "replaced" | "rolled out" | "scaled to zero" | "updated" | "deleted";
  /** The properties that change. */
  readonly properties: readonly string[];
}

/** The emulator's endpoints and templates at one point in time. */
export interface Snapshot {
  readonly endpoints: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly templates: ReadonlyMap<string, unknown>;
}

export function snapshotOf({ endpoints, templates }: Emulator): Snapshot {
  const byId = (all: readonly { readonly id: string }[]) => new Map(all.map((each) => [each.id, { ...each }]));
  return { endpoints: byId(endpoints.list()), templates: byId(templates.list()) };
}

/** The settings that replace an endpoint's workers when they change. */
const RELEASED = [
  "templateId",
  "gpuIds",
  "gpuCount",
  "minCudaVersion",
  "allowedCudaVersions",
  "instanceIds",
  "container",
];

const OPERATIONS: Readonly<Record<string, Change["what"]>> = {
  create: "created",
  "create-replacement": "replaced",
  replace: "replaced",
  "delete-replaced": "replaced",
  update: "updated",
  delete: "deleted",
};

/**
 * Returns what the change does to this package's resources, and to endpoints whose template
 * changes.
 */
export function changesOf(steps: readonly Step[], before: Snapshot, after: Snapshot): Change[] {
  const changed = new Map<string, Change>();
  for (const { op, urn, oldState, newState, diffReasons } of steps) {
    const kind = classOf(newState?.type ?? oldState?.type ?? "");
    if (kind === undefined) continue;
    const resource = urn.split("::").slice(3).join("::");
    const id = oldState?.id ?? "";
    const isReleased = kind === "ServerlessEndpoint" && hasNewWorkers(id, before, after);
    const what = OPERATIONS[op] ?? (isReleased ? "rolled out" : undefined);
    if (what === undefined || (changed.get(urn)?.what === "replaced" && what !== "replaced")) continue;
    const shown =
      what !== "updated"
        ? what
        : isScaledToZero(id, before, after)
          ? "scaled to zero"
          : isReleased
            ? "rolled out"
            : what;
    changed.set(urn, { resource, kind, what: shown, properties: diffReasons ?? [] });
  }
  return [...changed.values()];
}

function hasNewWorkers(id: string, before: Snapshot, after: Snapshot): boolean {
  const [old, now] = [before.endpoints.get(id), after.endpoints.get(id)];
  if (!old || !now) return false;
  const template = ({ templates }: Snapshot, endpoint: typeof old) =>
    withoutUse(templates.get(String(endpoint.templateId)));
  return (
    RELEASED.some((field) => !isDeepStrictEqual(old[field] ?? null, now[field] ?? null)) ||
    !isDeepStrictEqual(template(before, old), template(after, now))
  );
}

const withoutUse = (template: unknown) => ({ ...(template as object), lastUsedAt: null });

const isScaledToZero = (id: string, before: Snapshot, after: Snapshot) =>
  Number(before.endpoints.get(id)?.workersMax ?? 0) > 0 && after.endpoints.get(id)?.workersMax === 0;
