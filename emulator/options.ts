import type { ServerlessDiscount } from "./catalog/accountLimits";
import type { RateLimitOptions } from "./jobs/rateLimits";
import type { Profile } from "./model/fidelity";
import type { Seed } from "./server/account";
import type { JournalEntry, WorkerLine } from "./server/journal";
import type { GraphqlEnd } from "./server/routes";
import type { EmulatorClock } from "./time/virtualClock";
import type { Handlers } from "./workers/jobHandlers";

/** The options of `startEmulator`. */
export interface EmulatorOptions {
  /** The port to listen on. @default 0, any free port */
  readonly port?: number;
  /**
   * The host to listen on. The default only accepts connections from this machine.
   * @default "127.0.0.1"
   */
  readonly host?: string;
  /**
   * The behavior to emulate where the contract and the observed service differ. With `"observed"`,
   * `env` also names the service `runpod`, so that clients use everything that it supports.
   * @default "observed"
   */
  readonly profile?: Profile;
  /**
   * The key that clients must send. It is available as `emulator.apiKey` and in `emulator.env`.
   * @default the key in `dataFile`, or a random one
   */
  readonly apiKey?: string;
  /** A second key that is valid but has no permissions. @default none */
  readonly restrictedApiKey?: string;
  /**
   * How long a worker takes to stop after a scale-down, in milliseconds, ≥ 0.
   * @default 1000
   */
  readonly drainMs?: number;
  /**
   * How long a worker's cold start takes, in milliseconds, ≥ 0. With FLASHBOOT, it takes a quarter
   * of this time.
   * @default 200
   */
  readonly coldStartMs?: number;
  /** The ids of the existing templates. @default every non-empty id exists */
  readonly templates?: readonly string[];
  /**
   * `true` to reject references to templates, volumes and registry credentials that do not exist.
   * @default only for kinds that the seed contains
   */
  readonly strictReferences?: boolean;
  /** Template names that other accounts already use. @default none */
  readonly takenTemplateNames?: readonly string[];
  /** `true` if the name of a deleted template cannot be used again. @default false */
  readonly reserveTemplateNames?: boolean;
  /**
   * How long after its last use a template can be deleted, in milliseconds, ≥ 0. At RunPod it takes
   * two minutes.
   * @default 1000 in the observed profile, else 0
   */
  readonly templateReleaseMs?: number;
  /**
   * `true` to keep the template that was created together with an endpoint when the endpoint is
   * deleted.
   * @default false
   */
  readonly keepBoundTemplates?: boolean;
  /**
   * `true` if workers with FLASHBOOT keep using the old version of a changed template until
   * `workersMax` is 0.
   * @default false
   */
  readonly staleFlashBoot?: boolean;
  /** The data centers that support network volumes. @default seven, such as EU-RO-1 */
  readonly volumeDataCenters?: readonly string[];
  /**
   * The status of every GraphQL response after the service has shut down GraphQL: 410, 404 or 301.
   * @default GraphQL is served
   */
  readonly graphqlEnded?: GraphqlEnd;
  /** The highest total of `workersMax` over all endpoints (integer, ≥ 0). @default no limit */
  readonly workerQuota?: number;
  /**
   * The highest total cost of running workers, in US dollars an hour, ≥ 0. A worker that would
   * exceed it does not start.
   * @default no limit
   */
  readonly spendLimit?: number;
  /** The value of `myself.serverlessDiscount`. @default null */
  readonly serverlessDiscount?: ServerlessDiscount | null;
  /**
   * Endpoints, templates, volumes, registry credentials and pods that exist from the start.
   * @default none
   */
  readonly seed?: Seed;
  /**
   * A file that stores the key, endpoints, jobs, templates with their environment variables,
   * volumes, registry credentials and pods. Every change is saved before its response is sent. If
   * the file exists, the emulator restores its contents and ignores `seed`.
   * @default none: the state is lost when the emulator stops
   */
  readonly dataFile?: string;
  /**
   * The seed for random values such as ids. The same seed gives the same values.
   * @default random
   */
  readonly randomSeed?: number;
  /**
   * Job handlers or worker programs, by endpoint name, template id or endpoint id.
   * @default every job returns its input
   */
  readonly handlers?: Handlers;
  /**
   * Called with each line that a worker program prints, and when a program starts or ends.
   * @default none
   */
  readonly onWorkerOutput?: (line: WorkerLine) => void;
  /** Called with each request when it has ended, as the journal shows it. @default none */
  readonly onRequest?: (request: JournalEntry) => void;
  /** The rate limits. @default the contract's limits */
  readonly rateLimits?: RateLimitOptions;
  /** `true` to also send webhooks to other machines. @default false */
  readonly remoteWebhooks?: boolean;
  /** The clock: `manualClock()`, `scaledClock(factor)` or `systemClock`. @default systemClock */
  readonly clock?: EmulatorClock;
}
