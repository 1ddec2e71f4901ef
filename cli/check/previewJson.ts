import { isObject } from "../../provider/engine/properties";
import { classOf } from "../stack";
import { withTypes } from "./typedValues";

export type Values = Readonly<Record<string, unknown>>;

/** A resource before or after a preview step. */
export interface StepState {
  readonly id?: string;
  /** The id given by the `import` option. */
  readonly importID?: string;
  readonly type?: string;
  readonly provider?: string;
  readonly inputs?: Values;
  readonly outputs?: Values;
  readonly retainOnDelete?: boolean;
  /** The errors with which the last run of an existing record ended. */
  readonly initErrors?: readonly string[];
  /** The URN of the resource whose deletion counts as the deletion of this one. */
  readonly deletedWith?: string;
  readonly propertyDependencies?: Readonly<Record<string, readonly string[] | null>>;
}

export interface Step {
  readonly op: string;
  readonly urn: string;
  readonly provider?: string;
  readonly oldState?: StepState;
  readonly newState?: StepState;
}

/** The output of `pulumi preview --json`. */
export interface Preview {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly steps?: readonly Step[];
  readonly changeSummary?: Readonly<Record<string, number>>;
  readonly diagnostics?: readonly { readonly severity?: string; readonly message?: string }[];
}

/**
 * Parses the JSON.
 * @throws Error if it is not a preview
 */
export function previewIn(text: string): Preview {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (/^\s*\{"sequence":/.test(text))
      throw new Error(
        "the preview is a stream of events: unset PULUMI_ENABLE_STREAMING_JSON_PREVIEW, and make it with " +
          "pulumi preview --json --show-sames",
      );
    throw new Error("the preview is not JSON: make it with pulumi preview --json --show-sames");
  }
  const isPreview =
    isObject(value) &&
    (Array.isArray(value.steps) ? value.steps.every(isStep) : value.steps == null && isObject(value.changeSummary));
  if (!isPreview) throw new Error("the JSON is not a preview: make it with pulumi preview --json --show-sames");
  const preview = value as Preview;
  return { ...preview, steps: preview.steps?.map(typedStep) };
}

function typedStep({ oldState, newState, ...step }: Step): Step {
  const isOwn = classOf(typeOf({ ...step, oldState, newState })) !== undefined;
  const state = (given: StepState | undefined) =>
    given && isOwn ? { ...given, ...mapped(given, "inputs"), ...mapped(given, "outputs") } : given;
  return { ...step, oldState: state(oldState), newState: state(newState) };
}

const mapped = (state: StepState, name: "inputs" | "outputs") =>
  state[name] == null ? {} : { [name]: withTypes(state[name]) };

function isStep(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { op, urn, oldState, newState } = value;
  const isState = (state: unknown) => state == null || isObject(state);
  return typeof op === "string" && typeof urn === "string" && isState(oldState) && isState(newState);
}

/** Returns the type of a step's resource. */
export function typeOf({ oldState, newState }: Step): string {
  return newState?.type ?? oldState?.type ?? "";
}

/** The resource type for which every preview contains a step. */
const STACK = "pulumi:pulumi:Stack";

/** @throws Error if the steps are from a refresh or not from Pulumi at all */
export function refuseOtherCommands(steps: readonly Step[]): void {
  const ofStack = steps.filter((step) => typeOf(step) === STACK);
  if (ofStack.some(({ op }) => op !== "refresh")) return;
  const what =
    ofStack.length > 0
      ? "the JSON is from pulumi refresh, which does not run the program, so it shows no change to review"
      : "the JSON has no step for a stack, so it is not a whole preview";
  throw new Error(`${what}: make it with pulumi preview --json --show-sames`);
}
