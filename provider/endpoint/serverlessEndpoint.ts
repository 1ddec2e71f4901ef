import * as pulumi from "@pulumi/pulumi";
import type { FlashBootType, GpuTier, Location, OpenEnum, ScalerType } from "../../sdk/contract/enums";
import type { EndpointSettings } from "../../sdk/endpoints/record";
import { warnOfSettings } from "../connection/settingsWarnings";
import { checkedOptions } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";
import { showWhereRefused, suspendTraces } from "../program/traces";
import { secondAdoption } from "../resource/adoptIds";
import { previewAdoption } from "../resource/adoptionPreview";
import { automaticName } from "../resource/automaticName";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";
import { endpointDeclaration } from "./declaration";
import { warnOfIdleCost } from "./idleCost";

/** The outputs. This does not compile if a field of the endpoint is not an argument, too. */
const OUTPUTS: readonly (keyof ServerlessEndpointArgs | "queueUrl")[] = SERVERLESS_ENDPOINT.outputs;

const ADOPTING_CLASS = {
  ...SERVERLESS_ENDPOINT,
  one: "an endpoint",
  loadKind: () => (require("./previewedKind") as typeof import("./previewedKind")).PREVIEWED_ENDPOINT,
};

/** The engine fills in only properties that are there when the resource is registered. */
const UNRESOLVED = Object.fromEntries(OUTPUTS.map((output) => [output, undefined]));

/**
 * The arguments of a `ServerlessEndpoint`. The provider does not manage a field that the program never set: the service
 * gives it a default, and changes made elsewhere stay. A field that the program removes, or sets to `null`, returns to
 * the default given here.
 */
export interface ServerlessEndpointArgs {
  /**
   * Name of the endpoint. The service does not require it to be unique.
   * @default the resource's logical name, a hyphen and 7 hexadecimal digits, the same on every run
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * GPU tiers in priority order. A leading minus excludes a GPU type: `["AMPERE_24", "-NVIDIA L4"]`. Allowed: the tiers of
   * `GpuTier`, the tiers of the named service, and the tiers in the config `serverless-gpu:extraGpuTiers`. A dynamic provider
   * also accepts one tier or a comma-separated string.
   */
  gpuIds: pulumi.Input<OpenEnum<GpuTier> | pulumi.Input<OpenEnum<GpuTier>>[]>;
  /** Id of the serverless template that the workers run. */
  templateId: pulumi.Input<string>;
  /**
   * Time before an idle worker shuts down, in seconds (whole, ≥ 0). Has no effect if `scalerType` is `REQUEST_COUNT`.
   * @default 10
   */
  idleTimeout?: pulumi.Input<number | null>;
  /**
   * The countries (`CZ`, `FR`, `GB`, `NO`, `RO`, `US`) or ids of data centers (`EU-RO-1`) in which workers may run, in
   * any order. Also allowed: the countries of the named service, and the countries in the config
   * `serverless-gpu:extraLocations`. A dynamic provider also accepts a comma-separated string.
   * @default any region
   */
  locations?: pulumi.Input<string | pulumi.Input<OpenEnum<Location>>[] | null>;
  /**
   * `FLASHBOOT` for faster cold starts.
   * @default "OFF"
   */
  flashBootType?: pulumi.Input<FlashBootType | null>;
  /**
   * The rule that sets the number of workers: `QUEUE_DELAY` or `REQUEST_COUNT`.
   * @default "QUEUE_DELAY"
   */
  scalerType?: pulumi.Input<ScalerType | null>;
  /**
   * Target of the scaler (> 0): seconds that a job may wait (`QUEUE_DELAY`), or jobs per worker (`REQUEST_COUNT`).
   * Requires `scalerType`.
   * @default 4
   */
  scalerValue?: pulumi.Input<number | null>;
  /**
   * Number of workers that always run (whole, ≥ 0, at most `workersMax`). They are billed even while idle.
   * @default 0, which scales to zero
   */
  workersMin?: pulumi.Input<number | null>;
  /**
   * Number of workers that may run at the same time (whole, ≥ 0). Counts against the account's quota.
   * @default 3
   */
  workersMax?: pulumi.Input<number | null>;
  /**
   * Id of a network volume to mount.
   * @default none
   */
  networkVolumeId?: pulumi.Input<string | null>;
  /**
   * Id of an existing endpoint. A new resource adopts it, and changes it to match the program, instead of creating one. A
   * preview shows the changes. Without `name` the endpoint keeps its name. After the adoption, you may keep or remove
   * `adoptId`. While it stays, a replacement keeps the endpoint and adopts it again. Each endpoint belongs to one
   * resource of one stack.
   */
  adoptId?: pulumi.Input<string>;
  /**
   * `false` deletes the endpoint at once, with its workers and jobs: jobs that run are lost. Only REST v2 can do that. Over
   * GraphQL a preview refuses it.
   * @default true: a deletion waits until the workers have completed their jobs
   */
  drain?: pulumi.Input<boolean>;
  /**
   * Time that a deletion waits for the workers to stop, in seconds (whole, ≥ 1). After that the deletion fails, the
   * endpoint stays in state, and its numbers of workers are put back: it runs and is billed again.
   * @default 600 (10 minutes)
   */
  drainTimeout?: pulumi.Input<number>;
  /**
   * `true` makes create and update wait until `workersMin` workers are ready.
   * @default false
   */
  awaitReady?: pulumi.Input<boolean>;
  /**
   * Time that `awaitReady` waits, in seconds (whole, ≥ 1). After that create or update fails, and the endpoint stays in
   * state.
   * @default 600 (10 minutes)
   */
  awaitReadyTimeout?: pulumi.Input<number>;
  /**
   * The `revision` of the template (whole, ≥ 0), so that its changes reach the workers. When it changes, the service replaces idle
   * workers at once and the others after their job. It does not tell when that is done, and workers with FLASHBOOT may keep
   * the old version: see `recycleWorkers`.
   * @default none
   */
  templateRevision?: pulumi.Input<number>;
  /**
   * `true` replaces all workers when `templateRevision` changes: the endpoint is scaled to zero, running jobs end, and its
   * `workersMin` and `workersMax` are restored, also if the recycle fails. Jobs that wait stay in the queue. Takes at most
   * `drainTimeout`. An interrupted recycle is finished by the next `up`. Both numbers of workers are then managed, with their defaults.
   * @default false
   */
  recycleWorkers?: pulumi.Input<boolean>;
}

/**
 * A serverless GPU endpoint: a queue of jobs and the workers that process them.
 *
 * Changes are made in place. Deletion scales the endpoint to zero, waits until its workers have stopped, deletes it and
 * verifies that it is gone.
 *
 * @example
 * const llama = new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", templateId: "abc123" });
 * export const queueUrl = llama.queueUrl;
 *
 * @example
 * new ServerlessEndpoint("llama", {
 *   gpuIds: ["ADA_48_PRO", "AMPERE_48"],
 *   templateId: "abc123",
 *   locations: ["CZ", "RO"],
 *   scalerType: "REQUEST_COUNT",
 *   scalerValue: 2,
 *   workersMax: 5,
 *   flashBootType: "FLASHBOOT",
 * });
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the engine sets the outputs that the interface below declares.
export class ServerlessEndpoint extends pulumi.CustomResource {
  /** URL of the endpoint's queue. Append `/run`, `/runsync`, `/status/{id}` and so on. */
  declare readonly queueUrl: pulumi.Output<string>;
  /** Id of the endpoint at the service. The same as the resource's `id`. */
  get endpointId(): pulumi.Output<string> {
    return this.id;
  }

  /**
   * Reads an endpoint without managing it: Pulumi neither changes nor deletes it. Fails if no endpoint has this id.
   * @param name logical name of the resource
   * @param id id of the endpoint
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ServerlessEndpoint {
    return new ServerlessEndpoint(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args `undefined` only together with `options.id`, as in `get`
   */
  constructor(name: string, args: ServerlessEndpointArgs | undefined, options: pulumi.CustomResourceOptions = {}) {
    const problems = secondAdoption(ADOPTING_CLASS.one, name, args?.adoptId);
    const properties = args ? declared(name, args, options.parent) : { __mustExist: true };
    const resourceOptions = {
      ...checkedOptions({ ...endpointDeclaration(name, args, options), problems }),
      // With an adoptId, `diff` decides.
      ...(args?.adoptId === undefined && { deleteBeforeReplace: true }),
    };
    const { type, provider } = SERVERLESS_ENDPOINT;
    const inputs = { ...UNRESOLVED, ...properties, ...secretInputs(args ?? {}), __provider: provider };
    const restoreTraces = suspendTraces(options);
    try {
      super(type, name, inputs, resourceOptions);
      restoreTraces();
    } catch (error) {
      restoreTraces(error);
      throw error;
    }
    showWhereRefused(this);
    warnOfSettings(this);
    previewAdoption(this, args, ADOPTING_CLASS);
    if (args?.workersMin !== undefined) warnOfIdleCost({ type, name, options }, args.workersMin);
  }
}

type Outputs<T> = { readonly [K in keyof T]: pulumi.Output<T[K]> };

/** Every setting of the endpoint is an output. */
export interface ServerlessEndpoint extends Outputs<EndpointSettings> {}

function declared(name: string, args: ServerlessEndpointArgs, parent: pulumi.Resource | undefined): pulumi.Inputs {
  // An output may resolve to undefined, which is not a name.
  if (typeof args.name === "string" || args.name === null) return { ...args };
  // `check` decides whether to use it: an endpoint keeps its first name.
  return { ...args, automaticName: automaticName(name, parent) };
}
