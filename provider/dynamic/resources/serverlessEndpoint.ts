import * as pulumi from "@pulumi/pulumi";
import type { Endpoint, EndpointInput, EndpointSettings } from "../../../sdk/endpoints/record";
import { type RARE_SETTINGS, SERVERLESS_ENDPOINT } from "../../resourceTypes";
import { warnOfIdleCost } from "../program/idleCost";
import { noteOfPlainKeys } from "../program/plainKeys";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import { showWhereRefused, suspendTraces } from "../program/traces";
import type { ArgsOf } from "./args";
import { type ContainerArgs, commandProblems, declaredContainer, warnOfTag } from "./containerArgs";
import { type RecordClass, registration } from "./registration";
import type { RollOutArgs } from "./rollOutArgs";

const ENDPOINT_CLASS: RecordClass<Endpoint> = {
  ...SERVERLESS_ENDPOINT,
  // Only a part of the kind: the whole loads three times as many files.
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
 * never set: the service gives it a default, and changes made elsewhere stay. A field that the
 * program removes, or sets to `null`, returns to the default given here.
 */
export interface ServerlessEndpointArgs extends ArgsOf<Omit<EndpointInput, "name" | "env">>, ContainerArgs {
  /**
   * Name of the endpoint. The service does not require it to be unique.
   * @default the resource's logical name, a hyphen and 7 hexadecimal digits, the same on every run
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Id of an existing endpoint. A new resource adopts it, and changes it to match the program,
   * instead of creating one. A preview shows the changes. Without `name` the endpoint keeps its
   * name. After the adoption, you may keep or remove `adoptId`. While it stays, a replacement keeps
   * the endpoint and adopts it again. Each endpoint belongs to one resource of one stack.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * `false` deletes the endpoint at once, with its workers and jobs: running jobs are lost. Only
   * REST v2 can do that. Over GraphQL, a preview refuses it.
   * @default true: a deletion waits until the workers have completed their jobs
   */
  drain?: pulumi.Input<boolean> | undefined;
  /**
   * How long a deletion waits for the workers to stop, in seconds (integer, ≥ 1). After that, the
   * deletion fails, the endpoint stays in state, and its worker counts are put back: it runs and is
   * billed again.
   * @default 600 (10 minutes)
   */
  drainTimeout?: pulumi.Input<number> | undefined;
  /**
   * `true` makes create and update wait until `workersMin` workers are ready.
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
   * The `revision` of the template (integer, ≥ 0), so that its changes reach the workers. When it
   * changes, the service replaces idle workers at once and the others after their job. It does not
   * show when that is done, and workers with FLASHBOOT may keep the old version: see
   * `recycleWorkers`.
   * @default none
   */
  templateRevision?: pulumi.Input<number> | undefined;
  /**
   * `true` replaces all workers when `templateRevision` changes: the endpoint is scaled to zero,
   * running jobs end, and its `workersMin` and `workersMax` are restored, even if the recycle
   * fails. Waiting jobs stay in the queue. A recycle takes at most `drainTimeout`. The next `up`
   * finishes an interrupted one. With this option, the provider manages both worker counts, with
   * their defaults. It needs a template: with `imageName`, it is refused.
   * @default false
   */
  recycleWorkers?: pulumi.Input<boolean> | undefined;
  /**
   * How a change that replaces the workers, such as one of `imageName`, is judged: the `up` waits
   * until the workers run it, tests it, watches its jobs, and on a failure saves the former
   * settings again. It needs `imageName`: with `templateId`, it is refused. A new endpoint is not
   * judged.
   * @default none: a change is saved, and the run does not wait for it
   */
  rollOut?: pulumi.Input<RollOutArgs> | undefined;
}

/**
 * A serverless GPU endpoint: a queue of jobs and the workers that process them. The workers run the
 * image of a template (`templateId`), or that of the endpoint itself (`imageName`).
 *
 * Changes are made in place. Deletion scales the endpoint to zero, waits until its workers have
 * stopped, deletes it and verifies that it is gone.
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
  /** URL of the endpoint's queue. Append `/run`, `/runsync`, `/status/{id}` and so on. */
  declare readonly queueUrl: pulumi.Output<string>;
  /**
   * URL of the HTTP servers of a load-balancing endpoint. Append a path of yours, and send the API
   * key as the bearer token. An endpoint with a queue has none.
   */
  declare readonly url: pulumi.Output<string | undefined>;
  /** Id of the endpoint at the service. The same as the resource's `id`. */
  get endpointId(): pulumi.Output<string> {
    return this.id;
  }

  /**
   * Reads an endpoint without managing it: Pulumi neither changes nor deletes it. Fails if no
   * endpoint has this id.
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
    if (args?.workersMin !== undefined) warnOfIdleCost({ type, name, options }, args.workersMin);
  }
}

type RareSetting = (typeof RARE_SETTINGS)[number];
type Outputs<T> = {
  readonly [K in keyof T]: pulumi.Output<K extends RareSetting ? T[K] | undefined : T[K]>;
};

/**
 * Every setting of the endpoint is an output: its `templateId`, or the settings of its container,
 * which are otherwise `undefined`. So are `allowedCudaVersions`, `instanceIds`, `minCudaVersion`,
 * `modelReferences` and `networkVolumeIds` while they are not set. `env` holds the variables that
 * the program sets.
 */
export interface ServerlessEndpoint extends Outputs<EndpointSettings> {}
