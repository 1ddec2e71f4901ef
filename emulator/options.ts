import type { ServerlessDiscount } from "./catalog/accountLimits";
import type { RateLimitOptions } from "./jobs/rateLimits";
import type { Profile } from "./model/fidelity";
import type { Seed } from "./server/account";
import type { JournalEntry, WorkerLine } from "./server/journal";
import type { EmulatorClock } from "./time/virtualClock";
import type { Handlers } from "./workers/jobHandlers";

/** The options of `startEmulator`. */
export interface EmulatorOptions {
  /** The port to listen on. @default 0, any free port */
  readonly port?: number;
  /** The host to listen on. @default "127.0.0.1", this machine only */
  readonly host?: string;
  /**
   * The behavior to emulate where the contract and the observed service differ.
   * @default "contract"
   */
  readonly profile?: Profile;
  /**
   * The key that clients must send. `emulator.apiKey` and `emulator.env` hold it.
   * @default the one in `dataFile`, or a random one
   */
  readonly apiKey?: string;
  /** A second key, which is valid but has no permissions. @default none */
  readonly restrictedApiKey?: string;
  /**
   * How long a worker takes to stop after a scale-down, in milliseconds, ≥ 0.
   * @default 1000
   */
  readonly drainMs?: number;
  /**
   * The cold start of a worker, in milliseconds, ≥ 0; a quarter of it with FLASHBOOT.
   * @default 200
   */
  readonly coldStartMs?: number;
  /** Ids of the templates that exist. @default every non-empty id exists */
  readonly templates?: readonly string[];
  /**
   * `true` refuses templates, volumes and registry credentials that do not exist. @default only
   * kinds that a seed names
   */
  readonly strictReferences?: boolean;
  /** Names of templates that other accounts have taken. @default none */
  readonly takenTemplateNames?: readonly string[];
  /** `true` keeps the name of a deleted template from being used again. @default false */
  readonly reserveTemplateNames?: boolean;
  /**
   * How long after its last use a template can be deleted, in milliseconds, ≥ 0.
   * @default 120000 in the observed profile, else 0
   */
  readonly templateReleaseMs?: number;
  /**
   * `true` keeps the template that was created together with an endpoint when the endpoint is
   * deleted.
   * @default false
   */
  readonly keepBoundTemplates?: boolean;
  /**
   * `true` lets workers with FLASHBOOT keep the old version of a changed template until
   * `workersMax` is 0.
   * @default false
   */
  readonly staleFlashBoot?: boolean;
  /** The data centers that support network volumes. @default seven, such as EU-RO-1 */
  readonly volumeDataCenters?: readonly string[];
  /** The largest sum of `workersMax` over all endpoints (integer, ≥ 0). @default no limit */
  readonly workerQuota?: number;
  /**
   * The largest cost of all running workers, in US dollars an hour, ≥ 0. A worker whose start would
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
   * A file that keeps the key, endpoints, jobs, templates with their environment, volumes, registry
   * credentials and pods. Every change is saved before its response is sent. If the file exists,
   * the emulator starts with its contents and ignores `seed`.
   * @default none: the state is lost when the emulator stops
   */
  readonly dataFile?: string;
  /**
   * The seed of all random values, such as ids: the same seed repeats the same values.
   * @default random
   */
  readonly randomSeed?: number;
  /**
   * Job handlers, or worker programs, by the endpoint's name, template id or id.
   * @default every job returns its input
   */
  readonly handlers?: Handlers;
  /**
   * Called with each line that a worker program prints, and when the program starts and ends.
   * @default none
   */
  readonly onWorkerOutput?: (line: WorkerLine) => void;
  /** Called with each request once it has ended, as the journal shows it. @default none */
  readonly onRequest?: (request: JournalEntry) => void;
  /** The rate limits. @default the limits of the contract */
  readonly rateLimits?: RateLimitOptions;
  /** `true` also sends webhooks to other machines. @default false */
  readonly remoteWebhooks?: boolean;
  /** The clock: `manualClock()`, `scaledClock(factor)` or `systemClock`. @default systemClock */
  readonly clock?: EmulatorClock;
}
