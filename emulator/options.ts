import type { ServerlessDiscount } from "./endpoints/graphql";
import type { RateLimitOptions } from "./jobs/rateLimits";
import type { Profile } from "./model/fidelity";
import type { Seed } from "./server/account";
import type { EmulatorClock } from "./time/virtualClock";
import type { Handlers } from "./workers/handlers";

/** How an emulator is started. */
export interface EmulatorOptions {
  /** The port to listen at. @default 0, any free port */
  readonly port?: number;
  /** The address to listen at. @default "127.0.0.1", this machine only */
  readonly host?: string;
  /** Which reading of the service it plays. @default "contract" */
  readonly profile?: Profile;
  /** The key that clients must send. @default LOCAL_API_KEY */
  readonly apiKey?: string;
  /** A second key, known but without any permission. @default none */
  readonly restrictedApiKey?: string;
  /** How long a worker takes to leave after a scale-down, in milliseconds. @default 1000 */
  readonly drainMs?: number;
  /** How long a new worker takes until it accepts jobs, in milliseconds; a quarter with FLASHBOOT. @default 200 */
  readonly coldStartMs?: number;
  /** Ids of the templates that exist. @default any non-empty id does */
  readonly templates?: readonly string[];
  /** Largest sum of `workersMax` over all endpoints. @default no limit */
  readonly workerQuota?: number;
  /** What `myself.serverlessDiscount` shows. @default null */
  readonly serverlessDiscount?: ServerlessDiscount | null;
  /** Endpoints, pods and templates that exist from the start. @default none */
  readonly seed?: Seed;
  /**
   * A file that keeps endpoints, jobs, pods and templates. Every change is in it before it is answered. When the file
   * exists, the emulator starts with what it holds and ignores `seed`.
   * @default none: everything is gone when the emulator stops
   */
  readonly dataFile?: string;
  /** Makes ids, and everything else that chance decides, the same in every run. @default random */
  readonly randomSeed?: number;
  /** What workers do with jobs, by the name or the template id of their endpoint. @default they echo the input */
  readonly handlers?: Handlers;
  /** How it limits requests. @default the limits of the contract */
  readonly rateLimits?: RateLimitOptions;
  /** Whether webhooks may leave this machine. @default false */
  readonly remoteWebhooks?: boolean;
  /** `manualClock()`, `scaledClock(factor)` or `systemClock`. @default systemClock, the machine's own */
  readonly clock?: EmulatorClock;
}

/** The key of an emulator that was given none. It opens nothing but emulators. */
export const LOCAL_API_KEY = "local-emulator-key";
