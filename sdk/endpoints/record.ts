import type { FlashBootType, GpuTier, Location, OpenEnum, POD_STATES, ScalerType } from "../contract/enums";
import type { Kept } from "../records/keptFields";

/**
 * The settings to create an endpoint with, or to change. `null` sets the default. A field that is left out gets the
 * default when the endpoint is created, and keeps its value when it is changed.
 */
export interface EndpointInput {
  /** Name of the endpoint. Need not be unique at the service. Read without the suffix ` -fb` that the service may add. */
  readonly name: string;
  /**
   * GPU tiers in priority order, and GPU types to exclude (`-NVIDIA L4`). Set as one tier, a list or a comma list; read
   * as a comma list, exclusions last.
   */
  readonly gpuIds: OpenEnum<GpuTier> | readonly OpenEnum<GpuTier>[];
  /** Id of the serverless template that the workers run. */
  readonly templateId: string;
  /** Seconds before an idle worker shuts down: whole, ≥ 0. Has no effect if `scalerType` is `REQUEST_COUNT`. @default 10 */
  readonly idleTimeout?: number | null;
  /**
   * Countries or data centers where workers may run; `""` is any region. Set as a list or a comma list in any order;
   * read as a sorted comma list.
   * @default ""
   */
  readonly locations?: string | readonly OpenEnum<Location>[] | null;
  /** `FLASHBOOT` for faster cold starts, or `OFF`. @default "OFF" */
  readonly flashBootType?: FlashBootType | null;
  /** The measure that the number of workers follows: `QUEUE_DELAY` or `REQUEST_COUNT`. @default "QUEUE_DELAY" */
  readonly scalerType?: ScalerType | null;
  /**
   * Target of the scaler, > 0: seconds that a job may wait (`QUEUE_DELAY`), or jobs per worker (`REQUEST_COUNT`). A new
   * endpoint needs `scalerType` beside it.
   * @default 4
   */
  readonly scalerValue?: number | null;
  /**
   * Workers that always run, and cost while idle: whole, ≥ 0, at most `workersMax`. With 0 the endpoint scales to zero.
   * @default 0
   */
  readonly workersMin?: number | null;
  /** Workers that may run at once: whole, ≥ 0. Counts against the account's quota. @default 3 */
  readonly workersMax?: number | null;
  /** Id of the network volume that the workers mount; `""` is none. @default "" */
  readonly networkVolumeId?: string | null;
}

/** The normal form of a setting: a comma list for a list. An enum may hold words that the service has added. */
type NormalForm<T> = Extract<T, readonly unknown[]> extends never ? Open<NonNullable<T>> : string;
type Open<T> = T extends string ? (string extends T ? string : OpenEnum<T>) : T;
type NormalForms<T> = { readonly [K in keyof T]-?: NormalForm<T[K]> };

/** The settings of an endpoint in normal form. Every field is set. */
export interface EndpointSettings extends NormalForms<EndpointInput> {}

/** An endpoint as the service has it, in normal form. */
export interface Endpoint extends EndpointSettings {
  /** Identifier that the service gave the endpoint. */
  readonly id: string;
  /** The endpoint's pods: its workers, including those that are shutting down. */
  readonly pods: readonly EndpointPod[];
  /**
   * Id of the credential for the image's registry, where the endpoint has a container of its own (REST v2).
   * @internal
   */
  readonly ownRegistryAuthId?: string;
  /**
   * Fields of the service that the client does not manage. A change over GraphQL sends them as they are.
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
