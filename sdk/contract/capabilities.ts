import type { ManagementApi, ServiceName } from "./limits";

/**
 * The capabilities that differ between the management APIs. Code above the request layer checks for
 * a capability instead of a specific API.
 */
export interface Capabilities {
  /** The API. The field tables use this value to tell which fields can be set. */
  readonly api: ManagementApi;
  /** The named service, which may have fields that other services do not have. */
  readonly service?: ServiceName | undefined;
  /**
   * `true` if an endpoint can be deleted together with its workers and jobs. Otherwise, the workers
   * must stop first.
   */
  readonly deletesWorkers: boolean;
  /**
   * `true` if the user name and the password of a registry credential can be changed. Otherwise, a
   * new credential replaces the old one.
   */
  readonly changesLogins: boolean;
  /**
   * `true` if an endpoint's container is held in a template that is bound to the endpoint.
   * Otherwise, the endpoint itself holds the container.
   */
  readonly bindsTemplates: boolean;
  /** `true` if the account's discount is shown. */
  readonly showsDiscount: boolean;
  /** Limits of endpoint settings that are narrower than the contract's. @default none */
  readonly endpointLimits?: EndpointLimits;
}

/** Limits of endpoint settings that are narrower than the contract's. */
export interface EndpointLimits {
  /**
   * The range of `idleTimeout` with `QUEUE_DELAY`, in seconds. With `REQUEST_COUNT`, the field is
   * not sent.
   */
  readonly idleTimeout: { readonly min: number; readonly max: number };
  /** The minimum `scalerValue` with `QUEUE_DELAY`, in seconds. */
  readonly leastDelay: number;
  /**
   * `true` if an endpoint cannot have both a list of allowed CUDA versions and a minimum version.
   */
  readonly hasOneCudaRule: boolean;
}

/**
 * The capabilities of each API. The capabilities of REST v2 are based on observation, not on the
 * contract.
 */
export const CAPABILITIES = {
  graphql: { api: "graphql", deletesWorkers: false, changesLogins: true, bindsTemplates: true, showsDiscount: true },
  v2: {
    api: "v2",
    deletesWorkers: true,
    changesLogins: false,
    bindsTemplates: false,
    showsDiscount: false,
    endpointLimits: { idleTimeout: { min: 1, max: 3600 }, leastDelay: 0.5, hasOneCudaRule: true },
  },
} as const satisfies Readonly<Record<ManagementApi, Capabilities>>;

/** The name of a capability that an API either has or lacks. */
export type CapabilityName = {
  [Name in keyof Capabilities]-?: Capabilities[Name] extends boolean ? Name : never;
}[keyof Capabilities];

/** Returns the capabilities of an API at a service. */
export function capabilitiesAt(api: ManagementApi, service: ServiceName | undefined): Capabilities {
  return { ...CAPABILITIES[api], service };
}
