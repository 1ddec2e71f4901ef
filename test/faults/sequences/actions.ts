import type { ManagementApi } from "../../../sdk";
import type { ProviderName } from "./program";
import type { KeyName } from "./service";

/** Number of the machine. Each of the two has its own backend. */
export type MachineIndex = 0 | 1;

/** What a request does, whatever the API: `myself` reads the endpoints, `run` submits a job. */
export type Operation = "saveEndpoint" | "saveTemplate" | "deleteEndpoint" | "myself" | "workers" | "run";

/** A disturbance of a run, at the nth request of an operation. */
export interface Disturbance {
  /**
   * The engine is killed, the response is lost, the service refuses the request, or somebody edits
   * an endpoint in the console.
   */
  readonly kind: "kill" | "lose" | "refuse" | "edit";
  readonly nth: number;
  readonly operation?: Operation;
  /** For `kill`; a lost response and an edit always come after the effect. */
  readonly when?: "before" | "after";
  /** For `edit`. */
  readonly edit?: ConsoleEdit;
}

/** What somebody changes in the console. */
export interface ConsoleEdit {
  readonly of: Reference;
  readonly field: "workersMax" | "idleTimeout" | "name" | "imageName";
  readonly value: number | string;
}

/** How a command is run. */
export interface Manner {
  /** Logical name of the only resource to act on (`--target`). */
  readonly only?: string;
  /** Logical name of a resource to leave out (`--exclude`). */
  readonly except?: string;
  /** `true` for `up --refresh` instead of `up`. */
  readonly refreshes?: boolean;
  /** `true` for `--continue-on-error`. */
  readonly continues?: boolean;
  /** `true` if an `up` carries out the plan that a preview saved. */
  readonly planned?: boolean;
  /** `true` if an `up` runs an inline program, with the Automation API. */
  readonly inline?: boolean;
  /** The API. @default "graphql" */
  readonly api?: ManagementApi;
  /** `true` if it runs with another cache folder, as on a second computer with the same state. */
  readonly elsewhere?: boolean;
}

interface On extends Manner {
  readonly on: MachineIndex;
  readonly disturb?: Disturbance;
  /** `true` if a second `up` follows, which must change nothing. */
  readonly again?: boolean;
}

/**
 * The name of an endpoint: `foreign:0`, `own:0` for one of somebody else's with an image of its
 * own, or `0:a` for that of the resource `a` in the state of machine 0.
 */
export type Reference = string;

/** A user's action. Each action on a machine ends with a run of the real engine. */
export type Action =
  | (On & {
      readonly do: "declare";
      readonly name: string;
      readonly as?: string;
      readonly provider?: ProviderName;
      readonly counts?: Counts;
      readonly drainTimeout?: number;
      readonly image?: Image;
      /** `true` if a release of the image is tested. */
      readonly isTested?: boolean;
    })
  | (On & { readonly do: "rename"; readonly name: string; readonly to: string; readonly alias: boolean })
  | (On & { readonly do: "dropAliases"; readonly name: string })
  | (On & {
      readonly do: "adopt";
      readonly name: string;
      readonly of: Reference;
      readonly image?: Image;
      readonly isTested?: boolean;
      readonly workersMax?: number;
    })
  /** Gives the resource an image of its own, or another one. */
  | (On & { readonly do: "image"; readonly name: string; readonly image: Image; readonly isTested: boolean })
  /** Takes back the edits since the last `up` that succeeded. */
  | (On & { readonly do: "goBack" })
  | (On & { readonly do: "dropAdoptId"; readonly name: string })
  | (On & { readonly do: "takeOut"; readonly name: string })
  | (On & { readonly do: "change"; readonly name: string; readonly field: ChangedField; readonly value: number })
  | (On & { readonly do: "replace"; readonly name: string; readonly flag: "--replace" | "--target-replace" })
  | (On & { readonly do: "createsFirst"; readonly value: boolean })
  | (On & { readonly do: "provider"; readonly name: string; readonly to: ProviderName | null })
  | (On & { readonly do: "key"; readonly key: KeyName; readonly run: Command })
  | (On & { readonly do: "copyProgram" })
  | (On & { readonly do: "followAdvice"; readonly how: "adoptId" | "aliases" })
  | (On & { readonly do: Command })
  /** A run with a mistake in one argument, which is then taken back. */
  | (On & { readonly do: "typo"; readonly name: string })
  | ({ readonly do: "drift" } & ConsoleEdit)
  /** Sets both counts to 0, as a person does in the console. */
  | { readonly do: "switchOff"; readonly of: Reference }
  | { readonly do: "vanish"; readonly of: Reference }
  /** Submits a job that runs until `endJobs`. */
  | { readonly do: "job"; readonly of: Reference }
  | { readonly do: "endJobs" };

/**
 * What a declaration says about its workers: `workersMax: 1`, `workersMin: 1`, both, or nothing, as
 * the quickstart.
 */
export type Counts = "max" | "min" | "both" | "none";

/** An image of ours. The workers of `wrong` fail the test. */
export type Image = "good" | "2-good" | "3-good" | "wrong";

/** `drainTimeout` is a setting whose change sends no request. */
export type ChangedField = "workersMax" | "idleTimeout" | "drainTimeout";

export type Command = "up" | "up --refresh" | "preview" | "refresh" | "destroy";

/** The start of a sequence. */
export interface Setup {
  readonly seed: number;
  /** `true` if the service deletes an unknown id without an error. */
  readonly lenient: boolean;
  /** `true` if the stacks have a namespace, so that no other stack uses their automatic names. */
  readonly namespace: boolean;
  /** Number of endpoints of other owners in account A, all of them older than the program's. */
  readonly crowd?: number;
  /** How far lists lag, in milliseconds. */
  readonly lagMs?: number;
  /** `true` for the observed profile, whose lists end at 400. */
  readonly observed?: boolean;
  /** The APIs that the runs use. @default "graphql" */
  readonly apis?: ManagementApi | "both";
  /** `true` if the resources are those of the plugin. */
  readonly isPlugin?: boolean;
}

/** A sequence that can be replayed. */
export interface Sequence {
  readonly setup: Setup;
  readonly actions: readonly Action[];
}
