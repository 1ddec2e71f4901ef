import type { ManagementApi, ServiceName } from "./limits";

/**
 * The capabilities in which the management interfaces differ. Code above the requests asks for a
 * capability, not for an interface.
 */
export interface Capabilities {
  /** The interface. The tables of fields use it to say what it can set. */
  readonly api: ManagementApi;
  /** The named service, which has fields that others do not have. */
  readonly service?: ServiceName | undefined;
  /**
   * Can delete an endpoint together with its workers and jobs. Without it, the workers must stop
   * first.
   */
  readonly deletesWorkers: boolean;
  /**
   * Can change the user and the password of a registry credential. Without it, a new credential
   * replaces the old one.
   */
  readonly changesLogins: boolean;
  /**
   * Binds a template to an endpoint that has a container of its own. Otherwise the endpoint holds
   * the container.
   */
  readonly bindsTemplates: boolean;
  /** Shows the account's discount. */
  readonly showsDiscount: boolean;
  /** The narrower limits of some endpoint settings. @default none */
  readonly endpointLimits?: EndpointLimits;
}

/** Limits of an endpoint's settings that are narrower than the contract's. */
export interface EndpointLimits {
  /**
   * The range of `idleTimeout` with `QUEUE_DELAY`, in seconds. With `REQUEST_COUNT` it is not sent.
   */
  readonly idleTimeout: { readonly min: number; readonly max: number };
  /** The smallest `scalerValue` with `QUEUE_DELAY`, in seconds. */
  readonly leastDelay: number;
  /** `true` if an endpoint cannot have both a set of CUDA versions and a lowest one. */
  readonly hasOneCudaRule: boolean;
}

/** The capabilities of each interface. Those of REST v2 are observed. */
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

/** Returns the capabilities of an interface at one service. */
export function capabilitiesAt(api: ManagementApi, service: ServiceName | undefined): Capabilities {
  return { ...CAPABILITIES[api], service };
}
