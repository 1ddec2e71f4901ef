import type { ManagementApi } from "./limits";

/**
 * The abilities in which the management interfaces differ. Code above their requests asks for an
 * ability, not for an interface.
 */
export interface Capabilities {
  /**
   * Deletes an endpoint together with its workers and jobs. Otherwise the workers must have stopped first.
   */
  readonly deletesWorkers: boolean;
  /**
   * Changes the user and the password of a registry credential. Otherwise a new credential replaces it.
   */
  readonly changesLogins: boolean;
  /** Shows the account's discount. */
  readonly showsDiscount: boolean;
  /** The narrower limits of some endpoint settings. @default none */
  readonly endpointLimits?: EndpointLimits;
}

/** Limits of an endpoint's settings that are narrower than the contract's. */
export interface EndpointLimits {
  /** Seconds of `idleTimeout` with `QUEUE_DELAY`. With `REQUEST_COUNT` it is not sent. */
  readonly idleTimeout: { readonly min: number; readonly max: number };
  /** The smallest `scalerValue` with `QUEUE_DELAY`, in seconds. */
  readonly leastDelay: number;
}

/** The abilities of each interface. Those of REST v2 are observed. */
export const CAPABILITIES = {
  graphql: { deletesWorkers: false, changesLogins: true, showsDiscount: true },
  v2: {
    deletesWorkers: true,
    changesLogins: false,
    showsDiscount: false,
    endpointLimits: { idleTimeout: { min: 1, max: 3600 }, leastDelay: 0.5 },
  },
} as const satisfies Readonly<Record<ManagementApi, Capabilities>>;
