import * as pulumi from "@pulumi/pulumi";
import type { FlashBootType, GpuTier, Location, OpenEnum, ScalerType } from "../../sdk/contract/enums";
import { ENDPOINT_FIELDS } from "../../sdk/endpoints/fields";
import type { EndpointSettings } from "../../sdk/endpoints/record";
import { warnOfSettings } from "../connection/settingsWarnings";
import { checkedOptions, warnAt } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";
import { refuseSecondAdoption } from "./adoptIds";
import { previewAdoption } from "./adoptionPreview";
import { automaticName } from "./automaticName";
import { endpointDeclaration } from "./declaration";

/** The outputs. This does not compile if a field of the endpoint is not an argument, too. */
const OUTPUTS: readonly (keyof ServerlessEndpointArgs | "queueUrl")[] = [...ENDPOINT_FIELDS, "queueUrl"];

/** The engine fills in only properties that are there when the resource is registered. */
const UNRESOLVED = Object.fromEntries(OUTPUTS.map((output) => [output, undefined]));

/**
 * What a `ServerlessEndpoint` is declared with. A field that the program never set is left to the service: it gets the
 * service's default at first, and whatever it is set to elsewhere later is kept. A field that is taken out of the
 * program again, or set to `null`, returns to the default that is given here.
 */
export interface ServerlessEndpointArgs {
  /**
   * Name of the endpoint. The service does not demand that it is unique.
   * Default: the resource's logical name, a hyphen and 7 hexadecimal digits, the same on every run.
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * GPU tiers in priority order: one tier, a list, or the service's comma list. A GPU type is excluded by a leading
   * minus: `["AMPERE_24", "-NVIDIA L4"]`. Allowed: the tiers of `GpuTier`, those of the named service,
   * and those that the config `serverless-gpu:extraGpuTiers` names.
   */
  gpuIds: pulumi.Input<OpenEnum<GpuTier> | pulumi.Input<OpenEnum<GpuTier>>[]>;
  /** Id of the serverless template that the workers run. */
  templateId: pulumi.Input<string>;
  /** Seconds before an idle worker shuts down. Whole number, 0 or more. Default 10. */
  idleTimeout?: pulumi.Input<number | null>;
  /**
   * Where workers may run: countries (`CZ`, `FR`, `GB`, `NO`, `RO`, `US`) or ids of data centers (`EU-RO-1`), as a list
   * or a comma list, in any order. More countries are those of the named service, and those that the config
   * `serverless-gpu:extraLocations` names. Default: any region.
   */
  locations?: pulumi.Input<string | pulumi.Input<OpenEnum<Location>>[] | null>;
  /** `FLASHBOOT` for faster cold starts. Default `OFF`. */
  flashBootType?: pulumi.Input<FlashBootType | null>;
  /** How the number of workers follows the load: `QUEUE_DELAY` or `REQUEST_COUNT`. Default `QUEUE_DELAY`. */
  scalerType?: pulumi.Input<ScalerType | null>;
  /**
   * Target of the scaler, above 0: seconds that a job may wait (`QUEUE_DELAY`), or jobs per worker (`REQUEST_COUNT`).
   * Needs `scalerType` beside it. Default 4.
   */
  scalerValue?: pulumi.Input<number | null>;
  /** Workers that always run, and cost while idle. At most `workersMax`. Default 0: scale to zero. */
  workersMin?: pulumi.Input<number | null>;
  /** Workers that may run at once. Counts against the account's quota. Default 3. */
  workersMax?: pulumi.Input<number | null>;
  /** Id of a network volume to mount. Default: none. */
  networkVolumeId?: pulumi.Input<string | null>;
  /**
   * Id of an existing endpoint that a new resource takes over and changes to match the program, instead of creating one.
   * A preview tells what changes. Without `name` it keeps its name. Once it is taken over, `adoptId` may stay in the
   * program or be taken out. While it stays, a replacement keeps the endpoint and adopts it again. Each endpoint belongs
   * to one resource of one stack.
   */
  adoptId?: pulumi.Input<string>;
  /**
   * How long a deletion waits for the workers to leave, in seconds. When it is over, the deletion fails and the
   * endpoint stays in state, scaled to zero. Default 600 (10 minutes).
   */
  drainTimeout?: pulumi.Input<number>;
  /** Whether create and update wait until `workersMin` workers are ready. Default `false`. */
  awaitReady?: pulumi.Input<boolean>;
  /** How long `awaitReady` waits, in seconds. Default 600 (10 minutes). */
  awaitReadyTimeout?: pulumi.Input<number>;
}

/**
 * A serverless GPU endpoint: a queue of jobs and the workers that process them.
 *
 * Changes are made in place. Deletion scales the endpoint to zero, waits until its workers have left, deletes it and
 * proves that it is gone.
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
  /** Address of the endpoint's queue: `/run`, `/runsync`, `/status/{id}` and so on follow it. */
  declare readonly queueUrl: pulumi.Output<string>;
  /** Identifier that the service gave the endpoint: the resource's `id`. */
  get endpointId(): pulumi.Output<string> {
    return this.id;
  }

  /**
   * Reads an endpoint without managing it: it is neither changed nor deleted. Fails when there is none with this id.
   * @param name logical name of the resource
   * @param id identifier of the endpoint
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ServerlessEndpoint {
    return new ServerlessEndpoint(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args may be missing only together with `options.id`, as `get` uses it
   */
  constructor(name: string, args: ServerlessEndpointArgs | undefined, options: pulumi.CustomResourceOptions = {}) {
    refuseSecondAdoption(name, args?.adoptId);
    const properties = args ? declared(name, args, options.parent) : { __mustExist: true };
    // Created first, the replacement would find the old endpoint by its name.
    const resourceOptions = { ...checkedOptions(endpointDeclaration(name, args, options)), deleteBeforeReplace: true };
    const { type, provider } = SERVERLESS_ENDPOINT;
    super(
      type,
      name,
      { ...UNRESOLVED, ...properties, ...secretInputs(args ?? {}), __provider: provider },
      resourceOptions,
    );
    warnOfSettings(this);
    previewAdoption(this, args);
    if (args?.workersMin !== undefined) warnOfIdleCost({ type, name, options }, args.workersMin);
  }
}

type Outputs<T> = { readonly [K in keyof T]: pulumi.Output<T[K]> };

/** Every setting of the endpoint is an output. */
export interface ServerlessEndpoint extends Outputs<EndpointSettings> {}

function declared(name: string, args: ServerlessEndpointArgs, parent: pulumi.Resource | undefined): pulumi.Inputs {
  // An output may turn out to be undefined, which is no name.
  if (typeof args.name === "string" || args.name === null) return { ...args };
  // Whether it is used is for `check` to decide: it keeps the name that the endpoint was given first.
  return { ...args, automaticName: automaticName(name, parent) };
}

function warnOfIdleCost(declaration: Parameters<typeof warnAt>[0], workersMin: pulumi.Input<number | null>): void {
  const warn = (workers: number | null, isSecret = false) => {
    if (typeof workers !== "number" || workers < 1) return;
    if (isSecret) return warnAt(declaration, "workersMin is above 0: workers are billed even while they are idle");
    const many = workers === 1 ? "1 worker runs and is" : `${workers} workers run and are`;
    warnAt(declaration, `workersMin is ${workers}: ${many} billed also while there is nothing to do`);
  };
  // Most are plain numbers, for which an output would cost too much.
  if (typeof workersMin === "number") warn(workersMin);
  else pulumi.all([workersMin, pulumi.isSecret(pulumi.output(workersMin))]).apply((args) => warn(...args));
}
