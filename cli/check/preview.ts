import { UNKNOWN } from "../../provider/engine/properties";
import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import { classOf, nameIn } from "../stack";
import { leavingUrns, type Staying, whyItStays } from "./leaving";
import {
  type Preview,
  previewIn,
  refuseOtherCommands,
  type Step,
  type StepState,
  typeOf,
  type Values,
} from "./previewJson";

/** A resource before or after the change. */
export interface Side {
  /** The record's id; `undefined` for a new record. */
  readonly id: string | undefined;
  readonly values: Values;
  /** The URNs that each property's value comes from. */
  readonly dependencies: NonNullable<StepState["propertyDependencies"]>;
  /** `true` if the record is kept at RunPod when it leaves the stack. */
  readonly isRetained?: boolean;
  /** Why it is kept, if the program does not say so with `retainOnDelete`. */
  readonly stays?: Staying | undefined;
}

/** An existing record that a new resource takes over. */
interface Takes {
  /** The id given by `adoptId` or the `import` option; `undefined` if unknown. */
  readonly id: string | undefined;
  /** The record's name, if the step shows a name instead of an id. */
  readonly name: string | undefined;
}

/** The effect of the change on one resource. */
export interface Planned {
  readonly kind: "endpoint" | "volume";
  readonly urn: string;
  /** The resource's name in the program. */
  readonly name: string;
  readonly op: "create" | "update" | "replace" | "delete" | "same";
  /** The records before the change. There are several if an earlier run left one to delete. */
  readonly before: readonly Side[];
  readonly after: Side | undefined;
  /** The existing record that a new resource takes over instead of creating one. */
  readonly takes?: Takes | undefined;
  /** That record as found in the account, once it has been looked up. */
  readonly taken?: Side | undefined;
  /** `true` if all records are kept at RunPod when they leave the stack. */
  readonly isRetained: boolean;
  /** The properties that the program sets. */
  readonly declared: readonly string[];
  /** `true` if the resource uses the account of the environment and the stack's config. */
  readonly hasDefaultProvider: boolean;
  /** `true` if only a record that an earlier replacement left is deleted. */
  readonly isLeftOver?: boolean;
}

/** The change to a whole program. */
export interface PlannedChange {
  readonly resources: readonly Planned[];
  /** The engine's steps. */
  readonly steps: readonly Step[];
  /** The stack's config. */
  readonly config: NonNullable<Preview["config"]>;
  /** `true` if the program or its provider has called `getSpend`, which logs a line. */
  readonly readsSpend: boolean;
  /** The number of unchanged resources that the preview omits. */
  readonly hidden: number;
  /** The number of resources that `--target` does not create. */
  readonly notTargeted: number;
}

/** The resource classes that affect the cost. */
const CLASSES: readonly (string | undefined)[] = ["ServerlessEndpoint", "NetworkVolume"];

/**
 * Parses the JSON of a preview, for the dynamic provider or the plugin.
 * @throws Error if the text is not a preview, or if the preview failed
 */
export function readPreview(text: string): PlannedChange {
  const preview = previewIn(text);
  const errors = (preview.diagnostics ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    throw new Error(`the preview failed, so it does not show the whole change: ${errors[0]?.message?.trim()}`);
  }
  const steps = preview.steps ?? [];
  refuseOtherCommands(steps);
  const all = steps.filter((step) => CLASSES.includes(classOf(typeOf(step))));
  const own = all.filter((step) => !isNotTargeted(step));
  const urns = [...new Set(own.map(({ urn }) => urn))];
  const leaving = leavingUrns(steps);
  const shown = steps.filter(({ op }) => op === "same").length;
  return {
    resources: urns.flatMap((urn) =>
      plannedBy(
        own.filter((step) => step.urn === urn),
        leaving,
      ),
    ),
    steps,
    config: preview.config ?? {},
    readsSpend: (preview.diagnostics ?? []).some(({ message = "" }) => /^getSpend: /m.test(message)),
    hidden: Math.max(0, (preview.changeSummary?.same ?? 0) - shown),
    notTargeted: all.length - own.length,
  };
}

/** With `--target`, the engine reports a skipped create as a `same` step without a record. */
const isNotTargeted = ({ op, oldState }: Step) => op === "same" && !oldState?.id;

/**
 * Wraps an unchanged endpoint as a change to all of its fields, so that it goes through the same
 * checks.
 */
export function plannedSame({
  urn,
  outputs,
  provider,
}: {
  readonly urn: string;
  readonly outputs?: object;
  readonly provider?: string;
}): Planned {
  const side = sideOf({}, { ...outputs });
  return {
    kind: "endpoint",
    urn,
    name: nameIn(urn),
    op: "update",
    before: [],
    after: side,
    isRetained: false,
    declared: [],
    hasDefaultProvider: isDefault(provider),
  };
}

/** Returns `true` for a default provider, such as `…:pulumi:providers:x::default_0_1_0::id`. */
const isDefault = (provider: string | undefined) =>
  provider === undefined || /pulumi:providers:[^:]+::default(_[^:]*)?::[^:]*$/.test(provider);

/** Maps each record's id to the resource that manages the record after the change. */
export function holdersAfter(planned: readonly Planned[]): ReadonlyMap<string, Planned> {
  const held = planned.flatMap((each) => {
    const id = each.after && (each.after.id ?? each.takes?.id);
    return id === undefined ? [] : [[id, each] as const];
  });
  return new Map(held);
}

/** Combines the steps of one URN. A replacement may consist of several. */
function plannedBy(steps: readonly Step[], leaving: ReadonlySet<string>): Planned[] {
  const known = steps.filter(({ op }) => op in OPERATIONS);
  const [first] = known;
  if (!first) return [];
  const last = known.findLast(({ newState, op }) => newState && !op.startsWith("delete"));
  const old = known.flatMap(({ oldState }) => oldState ?? []);
  const before = old.filter((state, at) => old.findIndex((each) => each.id === state.id) === at);
  const kind = classOf(typeOf(first));
  // Without a new record, delete-replaced completes a replacement from an earlier run.
  const isReplaced = known.some(({ op }) => OPERATIONS[op] === "replace" && op !== "delete-replaced");
  const op = last ? (isReplaced ? "replace" : (OPERATIONS[last.op] ?? "update")) : "delete";
  const takes = last && takenBy(last, isReplaced);
  const sides = before.map((state) => sideOf(state, state.outputs, leaving));
  const provider = last?.newState?.provider ?? first.provider ?? before[0]?.provider;
  return [
    {
      kind: kind === "NetworkVolume" ? "volume" : "endpoint",
      urn: first.urn,
      op,
      name: nameIn(first.urn),
      before: sides,
      after: last && sideAfter(last, isReplaced, takes !== undefined),
      takes,
      isRetained: sides.length > 0 && sides.every(({ isRetained }) => isRetained),
      declared: Object.keys(last?.newState?.inputs ?? {}),
      hasDefaultProvider: isDefault(provider),
      isLeftOver: known.every((step) => step.op === "delete-replaced"),
    },
  ];
}

const OPERATIONS: Readonly<Record<string, Planned["op"]>> = {
  same: "same",
  create: "create",
  import: "update",
  update: "update",
  delete: "delete",
  replace: "replace",
  "create-replacement": "replace",
  "delete-replaced": "replace",
  "import-replacement": "replace",
};

/** Returns the record that a step takes over instead of creating one, if any. */
function takenBy({ op, newState: { id, importID, inputs = {} } = {} }: Step, isReplaced: boolean): Takes | undefined {
  if (op.startsWith("import")) return { id: importID || id || undefined, name: textIn(inputs.name) };
  const { adoptId } = inputs;
  const isNew = op === "create" || isReplaced;
  return isNew && adoptId != null && adoptId !== "" ? { id: textIn(adoptId), name: undefined } : undefined;
}

/** The settings of a taken-over record before it has been looked up. */
const NOT_LOOKED_UP: Values = Object.fromEntries(
  ["workersMin", "workersMax", "gpuCount", "gpuIds", "instanceIds", "locations", "minCudaVersion"]
    .concat("allowedCudaVersions", "networkVolumeId", "networkVolumeIds")
    .map((field) => [field, UNKNOWN]),
);

/**
 * Returns the values after a step. An update keeps the fields that it does not set. A new record
 * gets the defaults, and a taken-over record keeps its values from the account.
 */
function valuesAfter({ oldState, newState }: Step, isReplaced: boolean, isTaken: boolean): Values {
  const inputs = newState?.inputs ?? {};
  if (isTaken) return overlaid(NOT_LOOKED_UP, inputs);
  return { ...(isReplaced ? undefined : oldState?.outputs), ...inputs };
}

/** Applies the inputs to the settings of a taken-over record. */
export function overlaid(record: Values, inputs: Values): Values {
  const other = inputs.gpuIds != null ? { instanceIds: "" } : inputs.instanceIds != null ? { gpuIds: "" } : {};
  return { ...record, ...other, ...inputs };
}

function sideAfter(step: Step, isReplaced: boolean, isTaken: boolean): Side | undefined {
  const { oldState, newState } = step;
  // If a record stays, the engine shows its id only in the old state.
  const id = newState?.id || (isReplaced ? undefined : oldState?.id);
  return newState && { ...sideOf(newState, valuesAfter(step, isReplaced, isTaken)), id };
}

function sideOf(state: StepState, values: Values = {}, leaving: ReadonlySet<string> = new Set()): Side {
  const stays = whyItStays(state, leaving);
  return {
    id: state.id || undefined,
    values: { ...values },
    dependencies: state.propertyDependencies ?? {},
    isRetained: state.retainOnDelete === true || stays !== undefined,
    stays,
  };
}

/** The endpoint settings that the check uses. Unknown values are `undefined`. */
export interface EndpointSide {
  readonly id: string | undefined;
  readonly adoptId: string | undefined;
  readonly workersMin: number | undefined;
  readonly workersMax: number | undefined;
  readonly gpuCount: number | undefined;
  readonly gpuIds: string | undefined;
  readonly instanceIds: string | undefined;
  readonly locations: string | undefined;
  readonly minCudaVersion: string | undefined;
  readonly allowedCudaVersions: string | undefined;
  /** The ids of the endpoint's network volumes. */
  readonly volumeIds: string | undefined;
  /** The URNs of those volumes that belong to the program. */
  readonly volumeUrns: readonly string[];
}

/** The text that the engine prints instead of a secret. */
const SECRET = /^\[secret\]$/;

/**
 * Returns the settings of an endpoint, using the service's defaults for fields that are not set.
 */
export function endpointSide({ id, values, dependencies }: Side): EndpointSide {
  const text = (name: string) => textIn(values[name] ?? (ENDPOINT_DEFAULTS as Values)[name] ?? "");
  const count = (name: string, byDefault: number) => {
    const value = values[name] ?? (ENDPOINT_DEFAULTS as Values)[name] ?? byDefault;
    return typeof value === "number" ? value : undefined;
  };
  const lists = [text("networkVolumeId"), text("networkVolumeIds")];
  return {
    id,
    adoptId: text("adoptId") || undefined,
    workersMin: count("workersMin", 0),
    workersMax: count("workersMax", 0),
    gpuCount: count("gpuCount", 1),
    gpuIds: text("gpuIds"),
    instanceIds: text("instanceIds"),
    locations: text("locations"),
    minCudaVersion: text("minCudaVersion"),
    allowedCudaVersions: text("allowedCudaVersions"),
    volumeIds: lists.includes(undefined) ? undefined : lists.filter((list) => list !== "").join(","),
    volumeUrns: ["networkVolumeId", "networkVolumeIds"].flatMap((name) => dependencies[name] ?? []),
  };
}

/**
 * Returns a string. A list from the plugin becomes a comma-separated string, and unknown values
 * become `undefined`.
 */
export function textIn(value: unknown): string | undefined {
  const parts = Array.isArray(value) ? value : [value];
  const isKnown = parts.every((part) => typeof part === "string" && !part.includes(UNKNOWN) && !SECRET.test(part));
  return isKnown ? parts.join(",") : undefined;
}
