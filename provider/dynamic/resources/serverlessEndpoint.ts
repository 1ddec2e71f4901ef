import * as pulumi from "@pulumi/pulumi";
import type { Endpoint, EndpointInput, EndpointSettings } from "../../../sdk/endpoints/record";
import { type RARE_SETTINGS, SERVERLESS_ENDPOINT } from "../../engine/resourceTypes";
import { warnOfIdleCost } from "../program/idleCost";
import { noteOfPlainKeys } from "../program/plainKeys";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import { showWhereRefused, suspendTraces } from "../program/traces";
import type { ArgsOf } from "./args";
import { type ContainerArgs, commandProblems, declaredContainer, warnOfTag } from "./containerArgs";
import { type RecordClass, registration } from "./registration";
import type { RollOutArgs } from "./rollOutArgs";
import type { ScheduleArgs } from "./scheduleArgs";

const ENDPOINT_CLASS: RecordClass<Endpoint> = {
  ...SERVERLESS_ENDPOINT,
  // Load only part of the kind, because the whole loads three times as many files.
  loadInputs() {
    const {
      ENDPOINT_INPUTS,
    }: typeof import("../../endpoint/endpointInputs") = require("../../endpoint/endpointInputs");
    return ENDPOINT_INPUTS;
  },
  loadKind() {
    const { ENDPOINT_KIND }: typeof import("../../endpoint/endpointKind") = require("../../endpoint/endpointKind");
    return ENDPOINT_KIND;
  },
  deletesBeforeReplace: true,
};

/**
 * The arguments of a `ServerlessEndpoint`. The provider does not manage a field that the program
 * has never set: RunPod chooses a default, and changes made elsewhere are kept. If you remove a
 * field from the program or set it to `null`, it returns to the default given here.
 */
export interface ServerlessEndpointArgs extends ArgsOf<Omit<EndpointInput, "name" | "env">>, ContainerArgs {
  /**
   * Name of the endpoint. RunPod allows duplicate names.
   * @default the resource's logical name plus a hyphen and 7 hexadecimal digits, which are stable
   * across runs
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Id of an existing endpoint to adopt instead of creating one. Adopting it changes it to match
   * the program, and a preview shows the changes. If you don't set `name`, the endpoint keeps its
   * name. While `adoptId` is in state, removing the resource releases the endpoint instead of
   * deleting it, and a replacement adopts it again. If you remove `adoptId`, the next `up` makes it
   * the stack's own. Only one resource in one stack can manage an endpoint.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * `false` deletes the endpoint immediately with its workers and jobs, so running jobs are lost.
   * Only REST v2 supports this. Over GraphQL, the preview fails.
   * @default true: a deletion waits until the workers have finished their jobs
   */
  drain?: pulumi.Input<boolean> | undefined;
  /**
   * How long a deletion waits for the workers to stop, in seconds (integer, ≥ 1). After that, the
   * deletion fails, the endpoint stays in state, and its worker counts are restored, so it runs and
   * is billed again.
   * @default 600 (10 minutes)
   */
  drainTimeout?: pulumi.Input<number> | undefined;
  /**
   * `true` makes creates and updates wait until `workersMin` workers are ready.
   * @default false
   */
  awaitReady?: pulumi.Input<boolean> | undefined;
  /**
   * How long `awaitReady` waits, in seconds (integer, ≥ 1). After that, the create or update fails,
   * and the endpoint stays in state.
   * @default 600 (10 minutes)
   */
  awaitReadyTimeout?: pulumi.Input<number> | undefined;
  /**
   * The template's `revision` (integer, ≥ 0). Pass it so that template changes reach the workers.
   * When it changes, RunPod replaces idle workers immediately and busy ones after their job. RunPod
   * does not show when that is done, and workers with FLASHBOOT may keep the old version. See
   * `recycleWorkers`.
   * @default none
   */
  templateRevision?: pulumi.Input<number> | undefined;
  /**
   * `true` replaces all workers when `templateRevision` changes. The endpoint is scaled to zero,
   * running jobs finish, and `workersMin` and `workersMax` are restored, even if the restart fails.
   * Waiting jobs stay in the queue. A restart takes at most `drainTimeout`. If it is interrupted,
   * the next `up` finishes it. With this option, the provider manages both worker counts and their
   * defaults. It requires a template and cannot be combined with `imageName`.
   * @default false
   */
  recycleWorkers?: pulumi.Input<boolean> | undefined;
  /**
   * How to judge a change that replaces the workers, such as a new `imageName`. `pulumi up` waits
   * until the workers run the new release, tests it and watches its jobs. If the release fails,
   * `up` restores the previous one and fails, and the next `up` tries the release again. It
   * requires `imageName` and cannot be combined with `templateId`. A new endpoint is not judged.
   * @default none: `up` saves the change and does not wait for it
   */
  rollOut?: pulumi.Input<RollOutArgs> | undefined;
  /**
   * Worker counts that depend on the time. Each `pulumi up` applies those that hold when it runs,
   * so run it on a timer (`pipeline.sh tick`). A schedule cannot be secret, and cannot be combined
   * with `ignoreChanges` on `workersMin` or `workersMax`.
   * @default none: `workersMin` and `workersMax` always hold
   */
  schedule?: pulumi.Input<ScheduleArgs> | undefined;
}

/**
 * A serverless GPU endpoint: a queue of jobs, and the workers that process them. The workers run
 * either a template's image (`templateId`) or the endpoint's own image (`imageName`).
 *
 * Changes are made in place. Deleting an endpoint scales it to zero, waits until its workers have
 * stopped, deletes it, and verifies that it is gone.
 *
 * @example
 * const llama = new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", imageName: "ghcr.io/me/llama:1.4.0" });
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
  /**
   * The type by which policy packs recognize the class.
   * @internal
   */
  static readonly __pulumiType = ENDPOINT_CLASS.type;

  /** URL of the endpoint's queue. Append `/run`, `/runsync`, `/status/{id}` and so on. */
  declare readonly queueUrl: pulumi.Output<string>;
  /**
   * URL of a load-balancing endpoint's HTTP servers. Append your own path, and send the API key as
   * a bearer token. `undefined` for an endpoint with a queue.
   */
  declare readonly url: pulumi.Output<string | undefined>;
  /** Id of the endpoint at RunPod. Same as the resource's `id`. */
  get endpointId(): pulumi.Output<string> {
    return this.id;
  }

  /**
   * Reads an existing endpoint without managing it, so Pulumi neither changes nor deletes it. Fails
   * if the endpoint does not exist.
   * @param name logical name of the resource
   * @param id id of the endpoint
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ServerlessEndpoint {
    return new ServerlessEndpoint(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args only `undefined` together with `options.id`, as in `get`
   */
  constructor(name: string, args: ServerlessEndpointArgs | undefined, options: pulumi.CustomResourceOptions = {}) {
    const properties = args && declaredContainer(name, args);
    const registered = registration(ENDPOINT_CLASS, name, properties, options, commandProblems(args));
    const restoreTraces = suspendTraces(options);
    try {
      super(...registered);
      restoreTraces();
    } catch (error) {
      restoreTraces(error);
      throw error;
    }
    showWhereRefused(this);
    warnOfSettings(this);
    followAdoption(this, properties, ENDPOINT_CLASS);
    const { type } = ENDPOINT_CLASS;
    warnOfTag({ type, name, options }, args?.imageName);
    noteOfPlainKeys({ type, name, options }, args?.env);
    if (args?.workersMin !== undefined && args.schedule === undefined)
      warnOfIdleCost({ type, name, options }, args.workersMin);
  }
}

type RareSetting = (typeof RARE_SETTINGS)[number];
type Outputs<T> = {
  readonly [K in keyof T]: pulumi.Output<K extends RareSetting ? T[K] | undefined : T[K]>;
};

/**
 * Every setting of the endpoint is an output. The outputs contain either `templateId` or the
 * settings of the endpoint's own container; the others are `undefined`. `allowedCudaVersions`,
 * `instanceIds`, `minCudaVersion`, `modelReferences`, `networkVolumeIds` and `workersStandby` are
 * also `undefined` while they are not set. `env` contains the variables that the program sets.
 */
export interface ServerlessEndpoint extends Outputs<EndpointSettings> {}
