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
import type { Kept, NormalForms, SettingChanges } from "../records/fields";

/**
 * The settings to create an endpoint with, or to change. `null` sets the default. A field that is
 * left out gets the default when the endpoint is created, and keeps its value when it is changed.
 */
export interface EndpointInput extends ContainerInput {
  /**
   * Name of the endpoint. Need not be unique at the service. Read without the suffix ` -fb` that
   * the service may add.
   */
  readonly name: string;
  /**
   * GPU pools in priority order. A leading minus excludes a GPU type:
   * `["AMPERE_24", "-NVIDIA L4"]`. Required, except for an endpoint that runs on CPUs
   * (`instanceIds`). Allowed: the tiers of `GpuTier`, and those of the setting `extraGpuTiers` (in
   * a stack's config, `serverless-gpu:extraGpuTiers`). The service `runpod` decides itself: a tier
   * that this version does not know only causes a warning there. The client and a dynamic provider
   * also accept one tier or a comma-separated string, and return such a string, exclusions last.
   * @default none: the endpoint runs on CPUs
   */
  readonly gpuIds?: OpenEnum<GpuTier> | readonly OpenEnum<GpuTier>[] | null | undefined;
  /**
   * Id of the serverless template that the workers run. Required, except for an endpoint with an
   * `imageName`, which has the settings of a template itself. Exactly one of the two is set.
   * @default none: the endpoint has an `imageName`
   */
  readonly templateId?: string | null | undefined;
  /**
   * Time before an idle worker shuts down, in seconds (integer, ≥ 0). Has no effect if
   * `scalerType` is `REQUEST_COUNT`.
   * @default 10
   */
  readonly idleTimeout?: number | null | undefined;
  /**
   * The countries (`CZ`, `FR`, `GB`, `NO`, `RO`, `US`) or ids of data centers (`EU-RO-1`) in which
   * workers may run, in any order. Also allowed: the countries of the named service, and those of
   * the setting `extraLocations` (in a stack's config, `serverless-gpu:extraLocations`). The client
   * and a dynamic provider also accept a comma-separated string, and return a sorted one; `""` is
   * any region.
   * @default any region
   */
  readonly locations?: string | readonly OpenEnum<Location>[] | null | undefined;
  /**
   * `FLASHBOOT` for faster cold starts, `PRIORITY_FLASHBOOT`, or `OFF`. Over GraphQL, only the
   * service `runpod` has `PRIORITY_FLASHBOOT`.
   * @default "OFF"
   */
  readonly flashBootType?: FlashBootType | null | undefined;
  /**
   * The rule that sets the number of workers: `QUEUE_DELAY` or `REQUEST_COUNT`.
   * @default "QUEUE_DELAY"
   */
  readonly scalerType?: ScalerType | null | undefined;
  /**
   * Target of the scaler (> 0): seconds that a job may wait (`QUEUE_DELAY`), or jobs per worker
   * (`REQUEST_COUNT`). Requires `scalerType`, except in a change that the client makes.
   * @default 4
   */
  readonly scalerValue?: number | null | undefined;
  /**
   * Number of workers that always run (integer, ≥ 0, at most `workersMax`). They are billed even
   * while idle.
   * @default 0, which scales to zero
   */
  readonly workersMin?: number | null | undefined;
  /**
   * Number of workers that may run at the same time (integer, ≥ 0). Counts against the account's
   * quota.
   * @default 3
   */
  readonly workersMax?: number | null | undefined;
  /**
   * Id of a network volume to mount; `""` means none. The short form of `networkVolumeIds`: set one
   * of the two. An endpoint with several volumes also shows all of them here, comma-separated.
   * @default none
   */
  readonly networkVolumeId?: string | null | undefined;
  /**
   * Number of GPUs of each worker (integer, ≥ 1). Multiplies the price. Over GraphQL, only the
   * service `runpod` has it.
   * @default 1
   */
  readonly gpuCount?: number | null | undefined;
  /**
   * Lowest CUDA version of the machines that workers run on, such as `"12.8"`; `""` means any.
   * If no machine has it, no worker starts, and the service reports no error. REST v2 accepts it
   * only without `allowedCudaVersions`. Over GraphQL, only the service `runpod` has it.
   * @default any version
   */
  readonly minCudaVersion?: string | null | undefined;
  /**
   * Exact CUDA versions of the machines that workers run on, in any order: `["12.8", "12.9"]`. Over
   * GraphQL, only the service `runpod` has them. The client and a dynamic provider also accept a
   * comma-separated string, and return one, the lowest version first; `""` means any.
   * @default any version
   */
  readonly allowedCudaVersions?: string | readonly string[] | null | undefined;
  /**
   * Longest time that a job may run, in milliseconds (integer, ≥ 0, at most 604800000, 7 days); 0
   * means no limit. A new endpoint gets the default, and an existing one keeps its limit until the
   * program sets another. Over GraphQL, only the service `runpod` has it.
   * @default 600000 (10 minutes)
   */
  readonly executionTimeoutMs?: number | null | undefined;
  /**
   * Ids of network volumes to mount, at most one in each data center, in any order. A worker gets
   * the one in its data center; nothing copies data between them. If `locations` name data centers,
   * each needs one of the volumes. Over GraphQL, only the service `runpod` has several. The client
   * and a dynamic provider also accept a comma-separated string, and return a sorted one; `""`
   * means none.
   * @default none
   */
  readonly networkVolumeIds?: string | readonly string[] | null | undefined;
  /**
   * `QUEUE` for jobs in a queue, or `LOAD_BALANCER` for HTTP requests to a server in the workers,
   * which requires `scalerType` `REQUEST_COUNT`. The service cannot change it: another type
   * replaces the endpoint. Over GraphQL, only the service `runpod` has `LOAD_BALANCER`.
   * @default "QUEUE"
   */
  readonly type?: EndpointType | null | undefined;
  /**
   * CPU instances of an endpoint that runs on CPUs, in any order. Each is a flavor, a number of
   * vCPUs and GB of memory: `["cpu3g-4-16"]`. Cannot be combined with `gpuIds`, `gpuCount`, CUDA
   * versions and `modelReferences`. The service cannot change between GPUs and CPUs: that replaces
   * the endpoint. Over GraphQL, only the service `runpod` has them. The client and a dynamic
   * provider also accept a comma-separated string, and return a sorted one.
   * @default none: the endpoint runs on GPUs
   */
  readonly instanceIds?: string | readonly string[] | null | undefined;
  /**
   * Models that the service keeps on the machines for workers to load, such as
   * `["https://huggingface.co/<org>/<model>:<revision>"]`; at present one for each endpoint. Only
   * the service `runpod` has them, and only over GraphQL. The client and a dynamic provider also
   * accept a comma-separated string, and return a sorted one.
   * @default none
   */
  readonly modelReferences?: string | readonly string[] | null | undefined;
}

/** The settings of an endpoint in normal form. Every field is set. */
export interface EndpointSettings extends NormalForms<EndpointInput> {}

/** The settings of a new endpoint in normal form. Those that are left out get their default. */
export type NewEndpoint = Partial<EndpointSettings> &
  Pick<EndpointSettings, "name"> & {
    /** The name of the template that holds its container, where GraphQL needs one. */
    readonly templateName?: string;
  };

/** Options of `create`. */
export interface CreateEndpointOptions extends CreateRecordOptions<Endpoint> {
  /**
   * Name of the template that holds the container of an endpoint without a template, over GraphQL.
   * It must be new in the account. A program that was killed recognizes its endpoint by it.
   * @default the name of the endpoint, with random digits
   */
  readonly templateName?: string | undefined;
}

/**
 * Changes of an endpoint. Fields that are left out keep their value. So do variables that `env`
 * leaves out; `null` removes a variable, and `env: null` removes all.
 */
export interface EndpointChanges extends SettingChanges<Omit<EndpointInput, "env">> {
  /** The variables to set, and with `null` those to remove. */
  readonly env?: EnvChanges | null | undefined;
}

/** The template of an endpoint over GraphQL. */
export interface EndpointTemplate {
  readonly id: string;
  readonly name: string;
  /** `true` if the template belongs to the endpoint, which then has a container of its own. */
  readonly isBound: boolean;
}

/** An endpoint as the service has it, in normal form. */
export interface Endpoint extends EndpointSettings {
  /** Identifier that the service gave the endpoint. */
  readonly id: string;
  /** Time of the creation, as ISO 8601, which only REST v2 shows. */
  readonly createdAt?: string | undefined;
  /** The endpoint's pods: its workers, including those that are shutting down. */
  readonly pods: readonly EndpointPod[];
  /**
   * The template, where the service shows it. The fields of a container are those of the template
   * if it belongs to the endpoint, and empty otherwise.
   * @internal
   */
  readonly template?: EndpointTemplate;
  /**
   * Fields of the service as they were read, before they had a normal form. A change over GraphQL
   * sends them as they are.
   * @internal
   */
  readonly kept?: Kept;
}

/** A pod of an endpoint. */
export interface EndpointPod {
  /** `RUNNING`, `EXITED` or `TERMINATED`; other words may occur. */
  readonly desiredStatus: OpenEnum<(typeof POD_STATES)[number]>;
}

/** A discount on serverless prices (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** Size of the discount. The contract does not give its unit. */
  readonly discountFactor: number | null;
  /** Kind of discount, in the service's own words. */
  readonly type: string | null;
  /** End of the discount, as the service writes it. */
  readonly expirationDate: string | null;
}
