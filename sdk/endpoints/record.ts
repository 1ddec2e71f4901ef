import type { ContainerInput, EnvChanges } from "../containers/record";
import type {
  EndpointType,
  FlashBootType,
  GpuTier,
  Location,
  OpenEnum,
  POD_STATES,
  ScalerType,
} from "../contract/enums";
import type { CreateRecordOptions } from "../records/createRecord";
import type { Kept, NormalForms, SettingChanges, ShownRecord } from "../records/fields";

/**
 * The settings for creating or changing an endpoint. `null` sets a field to its default. An omitted
 * field is set to its default when the endpoint is created, and keeps its value when the endpoint
 * is changed.
 */
export interface EndpointInput extends ContainerInput {
  /**
   * The name of the endpoint. The service does not require names to be unique. The service may
   * append the suffix ` -fb`, which is removed when the name is read.
   */
  readonly name: string;
  /**
   * The GPU pools in priority order. A leading minus excludes a GPU type: `["AMPERE_24", "-NVIDIA
   * L4"]`. Required, unless the endpoint runs on CPUs (`instanceIds`). A pool that this version
   * does not know causes a warning, because the service decides which pools exist. A likely typo is
   * refused, unless the setting `acceptWords` (in a stack's config, `serverless-gpu:acceptWords`)
   * contains it. The client and a dynamic provider also accept a single pool or a comma-separated
   * string, and return a comma-separated string with exclusions last. The provider refuses an
   * exclusion that is in none of the pools. The client itself does not check this, and over GraphQL
   * the service ignores such an exclusion.
   * @default none: the endpoint runs on CPUs
   */
  readonly gpuIds?: OpenEnum<GpuTier> | readonly OpenEnum<GpuTier>[] | null | undefined;
  /**
   * The id of the serverless template that the workers run. Required, unless the endpoint sets
   * `imageName` and therefore contains the template's settings itself. Set either `templateId` or
   * `imageName`, not both.
   * @default none: the endpoint has an `imageName`
   */
  readonly templateId?: string | null | undefined;
  /**
   * How long a worker can be idle before it shuts down, in seconds (integer, ≥ 0). Has no effect if
   * `scalerType` is `REQUEST_COUNT`.
   * @default 10
   */
  readonly idleTimeout?: number | null | undefined;
  /**
   * The countries (`CZ`, `FR`, `GB`, `NO`, `RO`, `US`) or data center ids (`EU-RO-1`) in which
   * workers may run, in any order. Additional countries of the named service and countries in the
   * setting `acceptWords` (in a stack's config, `serverless-gpu:acceptWords`) are also allowed. The
   * client and a dynamic provider also accept a comma-separated string, and return a sorted,
   * comma-separated string; `""` means any region.
   * @default any region
   */
  readonly locations?: string | readonly OpenEnum<Location>[] | null | undefined;
  /**
   * `FLASHBOOT` for faster cold starts, `PRIORITY_FLASHBOOT` for faster cold starts with priority,
   * or `OFF`. Over GraphQL, only the service `runpod` supports `PRIORITY_FLASHBOOT`.
   * @default "OFF"
   */
  readonly flashBootType?: FlashBootType | null | undefined;
  /**
   * The rule that determines the number of workers: `QUEUE_DELAY` or `REQUEST_COUNT`.
   * @default "QUEUE_DELAY"
   */
  readonly scalerType?: ScalerType | null | undefined;
  /**
   * The target of the scaler (> 0). With `QUEUE_DELAY`, it is how many seconds a job may wait; with
   * `REQUEST_COUNT`, it is the number of jobs per worker. Requires `scalerType`, except in a change
   * made through the client.
   * @default 4
   */
  readonly scalerValue?: number | null | undefined;
  /**
   * The number of workers that always run (integer, ≥ 0, at most `workersMax`). They are billed
   * even while idle.
   * @default 0, which scales to zero
   */
  readonly workersMin?: number | null | undefined;
  /**
   * The maximum number of workers that run at the same time (integer, ≥ 0). This number counts
   * toward the account's quota.
   * @default 3
   */
  readonly workersMax?: number | null | undefined;
  /**
   * The number of workers that the service keeps started although no job needs them (integer, ≥ 0).
   * The service sets it to 1 if a create leaves it out, so that an endpoint keeps a worker although
   * its `workersMin` is 0. Only the service `runpod` supports this setting, and only over GraphQL.
   * An existing endpoint keeps its number unless the program sets one.
   * @default 0 if `workersMin` is 0, otherwise the service's default
   */
  readonly workersStandby?: number | null | undefined;
  /**
   * The id of a network volume to mount; `""` means none. This is the short form of
   * `networkVolumeIds`, so set only one of the two. If an endpoint has several volumes, reading
   * this field returns all their ids, separated by commas.
   * @default none
   */
  readonly networkVolumeId?: string | null | undefined;
  /**
   * The number of GPUs per worker (integer, ≥ 1). The price is multiplied by this number. Over
   * GraphQL, only the service `runpod` supports this setting.
   * @default 1
   */
  readonly gpuCount?: number | null | undefined;
  /**
   * The lowest CUDA version of the machines that workers run on, such as `"12.8"`; `""` means any.
   * If no machine has this version or a newer one, no workers start, and the service does not
   * report an error. REST v2 does not accept this setting together with `allowedCudaVersions`. Over
   * GraphQL, only the service `runpod` supports it.
   * @default any version
   */
  readonly minCudaVersion?: string | null | undefined;
  /**
   * The exact CUDA versions of the machines that workers run on, in any order: `["12.8", "12.9"]`.
   * Over GraphQL, only the service `runpod` supports this setting. The client and a dynamic
   * provider also accept a comma-separated string, and return a comma-separated string with the
   * lowest version first; `""` means any.
   * @default any version
   */
  readonly allowedCudaVersions?: string | readonly string[] | null | undefined;
  /**
   * How long a job may run, in milliseconds (integer, ≥ 0, at most 604800000, 7 days); 0 means no
   * limit. If the program does not set a limit, a new endpoint gets the default, and an existing
   * endpoint keeps its limit. Over GraphQL, only the service `runpod` supports this setting.
   * @default 600000 (10 minutes)
   */
  readonly executionTimeoutMs?: number | null | undefined;
  /**
   * The ids of the network volumes to mount, at most one per data center, in any order. A worker
   * mounts the volume in its data center. Data is not copied between volumes. If `locations`
   * contains data centers, there must be a volume in each of them. Over GraphQL, only the service
   * `runpod` supports several volumes. The client and a dynamic provider also accept a
   * comma-separated string, and return a sorted, comma-separated string; `""` means none.
   * @default none
   */
  readonly networkVolumeIds?: string | readonly string[] | null | undefined;
  /**
   * `QUEUE` for jobs in a queue, or `LOAD_BALANCER` for HTTP requests to a server in the workers.
   * `LOAD_BALANCER` requires `scalerType` to be `REQUEST_COUNT`. The service cannot change the type
   * of an existing endpoint, so a new type replaces the endpoint. Over GraphQL, only the service
   * `runpod` supports `LOAD_BALANCER`.
   * @default "QUEUE"
   */
  readonly type?: EndpointType | null | undefined;
  /**
   * The CPU instances of an endpoint that runs on CPUs, in any order. Each instance consists of a
   * flavor, the number of vCPUs, and the memory in GB: `["cpu3g-4-16"]`. Cannot be combined with
   * `gpuIds`, `gpuCount`, CUDA versions or `modelReferences`. The service cannot change an endpoint
   * between GPUs and CPUs, so such a change replaces the endpoint. Over GraphQL, only the service
   * `runpod` supports CPU instances. The client and a dynamic provider also accept a
   * comma-separated string, and return a sorted, comma-separated string.
   * @default none: the endpoint runs on GPUs
   */
  readonly instanceIds?: string | readonly string[] | null | undefined;
  /**
   * The models that the service keeps on its machines so that workers can load them, such as
   * `["https://huggingface.co/<org>/<model>:<revision>"]`. At present, an endpoint can have only
   * one model. Only the service `runpod` supports this setting, and only over GraphQL. The client
   * and a dynamic provider also accept a comma-separated string, and return a sorted,
   * comma-separated string.
   * @default none
   */
  readonly modelReferences?: string | readonly string[] | null | undefined;
}

/** The settings of an endpoint in normal form. All fields are set. */
export interface EndpointSettings extends NormalForms<EndpointInput> {}

/** The settings of a new endpoint in normal form. Omitted fields get their defaults. */
export type NewEndpoint = Partial<EndpointSettings> &
  Pick<EndpointSettings, "name"> & {
    /**
     * The name of the template that contains the endpoint's container settings, if GraphQL needs
     * one.
     */
    readonly templateName?: string;
  };

/** The options of `create`. */
export interface CreateEndpointOptions extends CreateRecordOptions<Endpoint> {
  /**
   * The name of the template that contains the container settings of an endpoint without a
   * template, over GraphQL. No template of the account may have this name yet. A program that was
   * killed can recognize its endpoint by this name.
   * @default the name of the endpoint, with random digits
   */
  readonly templateName?: string | undefined;
}

/**
 * Changes to an endpoint. Omitted fields keep their value, and so do environment variables that are
 * not in `env`. `null` removes a variable, and `env: null` removes all variables.
 */
export interface EndpointChanges extends SettingChanges<Omit<EndpointInput, "env">> {
  /** The environment variables to set. `null` removes a variable. */
  readonly env?: EnvChanges | null | undefined;
}

/** The template of an endpoint over GraphQL. */
export interface EndpointTemplate {
  readonly id: string;
  readonly name: string;
  /**
   * `true` if the template belongs to the endpoint, which means that the endpoint has its own
   * container.
   */
  readonly isBound: boolean;
}

/** An endpoint as returned by the service, in normal form. */
export interface Endpoint extends EndpointSettings, ShownRecord {
  /** The id that the service assigned to the endpoint. */
  readonly id: string;
  /** When the endpoint was created (ISO 8601). Only REST v2 shows this. */
  readonly createdAt?: string | undefined;
  /** The endpoint's pods, which are its workers, including workers that are shutting down. */
  readonly pods: readonly EndpointPod[];
  /**
   * The template, if the service shows it. If the template belongs to the endpoint, the endpoint's
   * container fields are those of the template. Otherwise, the container fields are empty.
   * @internal
   */
  readonly template?: EndpointTemplate;
  /**
   * Fields as the service returned them, before they were brought into normal form. A change over
   * GraphQL sends them back as they are.
   * @internal
   */
  readonly kept?: Kept;
}

/** A pod of an endpoint. */
export interface EndpointPod {
  /** `RUNNING`, `EXITED` or `TERMINATED`. Other values may occur. */
  readonly desiredStatus: OpenEnum<(typeof POD_STATES)[number]>;
}

/** A discount on serverless prices (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** The size of the discount. The contract does not specify its unit. */
  readonly discountFactor: number | null;
  /** The kind of discount, in the service's own words. */
  readonly type: string | null;
  /** When the discount ends, in the service's own format. */
  readonly expirationDate: string | null;
}
