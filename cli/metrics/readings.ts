import { messageOf } from "../../provider/engine/errors";
import {
  type AccountLimits,
  type CatalogGpu,
  type Client,
  type Endpoint,
  type RequestEvent,
  ServerlessGpuError,
  type Spend,
} from "../../sdk";
import { readGpus } from "../../sdk/catalog/read";
import type { Clock } from "../../sdk/contract/clock";
import { isGone, ONCE, type WatchedEndpoint, type WatchOptions, watch } from "./endpointReads";
import { createFailures } from "./failures";
import { createRead, type MetricRead, repeatRead, SHOWN_MS } from "./read";
import type { WantedEndpoint } from "./wanted";

/** The maximum number of endpoints. Each one takes a queue request per round. */
const MOST_ENDPOINTS = 500;
/** The maximum number of requests for one list. More would exceed the budget per minute. */
const MOST_LIST_REQUESTS = 20;
/** The number of requests per minute for lists that take several requests. */
const LISTS_A_MINUTE = 5;
/**
 * The number of requests per minute for releases and workers, which endpoints take turns to use.
 */
const DETAILS_A_MINUTE = 12;

const MINUTE_MS = 60_000;
/** How often a queue is read, in milliseconds. */
const HEALTH_EVERY_MS = 30_000;
const ACCOUNT_EVERY_MS = 5 * MINUTE_MS;
const CATALOG_EVERY_MS = 10 * MINUTE_MS;
const SPEND_EVERY_MS = 15 * MINUTE_MS;
const STATE_EVERY_MS = 5 * MINUTE_MS;
/** After how many intervals without a read a value is no longer shown. */
const SHOWN_INTERVALS = 3;
/**
 * How many queues are read at the same time: this number, or a fifth of them, so that a round takes
 * 50 seconds if every read takes ten. Other endpoints' values would otherwise become too old.
 */
const AT_ONCE = 10;
const MOST_ROUNDS = 5;

export interface ReadingsOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** `true` if the API shows releases, as REST v2 does. */
  readonly showsReleases: boolean;
  /**
   * Reads the endpoints in a stack's state, which alone are then read. @default all endpoints that
   * `isWanted` accepts
   */
  readonly readState?: (() => Promise<readonly WantedEndpoint[]>) | undefined;
  /** Selects endpoints. @default all */
  readonly isWanted?: ((endpoint: Endpoint) => boolean) | undefined;
  /** @default 30,000 */
  readonly healthEveryMs?: number | undefined;
  /** Reports a failure. A repeated failure is reported once. */
  readonly say: (message: string) => void;
}

type Wanted = ReadonlyMap<string, WantedEndpoint>;

/** The latest values of all reads. */
export interface Readings {
  readonly clock: Clock;
  readonly endpoints: ReadonlyMap<string, WatchedEndpoint>;
  readonly list: MetricRead<readonly Endpoint[]>;
  readonly account: MetricRead<AccountLimits>;
  readonly catalog: MetricRead<readonly CatalogGpu[]>;
  /** The cost of this month, by endpoint. */
  readonly spend: MetricRead<Spend>;
  /** The endpoints in the stack's state. @default no stack was chosen */
  readonly state: MetricRead<Wanted> | undefined;
  /** The number of management requests since the start. */
  readonly managementRequests: number;
  /** Must be called for every request of the client. */
  noteRequest(event: RequestEvent): void;
  /**
   * Reads the stack's state and the list once, before anything else.
   * @throws the error of a read, unless it may be temporary
   */
  first(): Promise<void>;
  /** Reads until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Registers a listener that is called after all queues have been read once. */
  onRound(listener: () => void): void;
  /** Resolves when no read is in progress. */
  settled(): Promise<void>;
}

/** Creates the reads for the metrics, each with its own interval. */
export function createReadings(options: ReadingsOptions): Readings {
  const { client, clock, readState, isWanted = () => true, healthEveryMs = HEALTH_EVERY_MS, say } = options;
  const { showsReleases } = options;
  const endpoints = new Map<string, WatchedEndpoint>();
  const listeners: (() => void)[] = [];
  const underWay = new Set<Promise<unknown>>();
  let requests = 0;
  let listRequests = 1;
  let checkList = () => {};
  let [listProblem, stateProblem]: unknown[] = [];
  const failed = (what: string) => (error: unknown) => say(`${what} could not be read: ${messageOf(error)}`);
  const failures = createFailures(say);
  /** Returns how long a turn for the details of one endpoint lasts, in milliseconds. */
  const turnMs = () =>
    Math.max(MINUTE_MS / Math.max(1, endpoints.size), (MINUTE_MS / DETAILS_A_MINUTE) * (showsReleases ? 2 : 1));
  const detailsShownMs = () => Math.max(SHOWN_MS, SHOWN_INTERVALS * endpoints.size * turnMs());
  const watching: WatchOptions = { client, clock, showsReleases, failed: failures.failed, detailsShownMs };
  const add = (id: string) => {
    const known = endpoints.get(id) ?? watch(id, watching);
    endpoints.set(id, known);
    return known;
  };

  async function readWanted(read: () => Promise<readonly WantedEndpoint[]>): Promise<Wanted> {
    const wanted = new Map((await read()).map((each) => [each.id, each]));
    for (const id of wanted.keys()) add(id);
    for (const id of endpoints.keys()) if (!wanted.has(id)) endpoints.delete(id);
    return wanted;
  }

  async function readList(): Promise<readonly Endpoint[]> {
    const before = requests;
    const cut = new AbortController();
    checkList = () => {
      if (requests - before > MOST_LIST_REQUESTS) cut.abort(tooMany());
    };
    const { records } = await client.endpoints.listReadable({ ...ONCE, signal: cut.signal }).finally(() => {
      checkList = () => {};
      listRequests = Math.max(1, requests - before);
    });
    const wanted = records.filter((each) => (readState ? endpoints.has(each.id) : isWanted(each)));
    if (wanted.length > MOST_ENDPOINTS) throw tooMany(wanted.length);
    for (const each of endpoints.values()) each.missing += 1;
    const listed = { at: clock.now(), monotonic: clock.monotonic() };
    for (const settings of wanted) Object.assign(add(settings.id), { settings, listed, missing: 0 });
    // Endpoints that have been renamed since then.
    for (const each of readState ? [] : records) if (!isWanted(each)) endpoints.delete(each.id);
    return wanted;
  }

  const list = createRead(clock, readList, (error) => {
    listProblem = error;
    failed("the list of endpoints")(error);
  });
  const shown = (everyMs: number) => () => SHOWN_INTERVALS * everyMs;
  const account = createRead(
    clock,
    async () => client.account.limits(ONCE),
    failed("the account's limits"),
    shown(ACCOUNT_EVERY_MS),
  );
  const catalog = createRead(
    clock,
    () => readGpus(client.catalog, ONCE),
    failed("the catalog"),
    shown(CATALOG_EVERY_MS),
  );
  const spend = createRead(
    clock,
    async () => client.account.spend({ ...ONCE, groupBy: "endpoint" }),
    failed("what endpoints have cost"),
    shown(SPEND_EVERY_MS),
  );
  const state =
    readState &&
    createRead(
      clock,
      () => readWanted(readState),
      (error) => {
        stateProblem = error;
        failed("the stack's state")(error);
      },
      shown(STATE_EVERY_MS),
    );

  /** Finds endpoints that the state contains, but that are gone. */
  async function judgeMissed(): Promise<void> {
    const gone = [...endpoints.values()].filter(isGone);
    // The run that deleted or replaced them may be newer than the state that was read.
    const isProven = gone.some(({ isMissed }) => !isMissed) && (await state?.run()) !== undefined;
    for (const each of endpoints.values()) each.isMissed = isGone(each) && (each.isMissed || isProven);
  }

  /** Repeats work, and marks it as in progress while it runs. */
  function loop(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
    return repeatRead(clock, signal, () => {
      const busy = work();
      underWay.add(busy);
      return busy.finally(() => underWay.delete(busy));
    });
  }

  async function readQueues(): Promise<number> {
    // Without a list, there is nothing to read.
    if (endpoints.size === 0) await list.run();
    const waiting = [...endpoints.values()].values();
    const work = async () => {
      for (const each of waiting) await each.health.run();
    };
    const atOnce = Math.max(AT_ONCE, Math.ceil(endpoints.size / MOST_ROUNDS));
    await Promise.all(Array.from({ length: atOnce }, work));
    failures.report("queue");
    for (const each of endpoints.values()) if (!readState && isGone(each)) endpoints.delete(each.id);
    for (const listener of listeners) listener();
    return healthEveryMs;
  }

  let turn = 0;
  /** The error code of the last read of details, whichever endpoint it was of. */
  let detailsError: string | undefined;
  async function readDetails(): Promise<number> {
    if (endpoints.size === 0) await list.run();
    const all = [...endpoints.values()];
    const next = all[turn++ % Math.max(1, all.length)];
    // A service that does not offer this read rejects it every time.
    if (next?.details.lastError !== "REJECTED") await next?.details.run();
    // Endpoints take turns, so that an outage would be reported for one after another.
    failures.report("workers", detailsError);
    detailsError = next?.details.lastError;
    return turnMs();
  }

  return {
    clock,
    endpoints,
    list,
    account,
    catalog,
    spend,
    state,
    get managementRequests() {
      return requests;
    },
    noteRequest({ operation }) {
      if (operation === "health") return;
      requests += 1;
      checkList();
    },
    async first() {
      if (state && (await state.run()) === undefined) throw stateProblem;
      if ((await list.run()) !== undefined) return;
      const isTemporary = listProblem instanceof ServerlessGpuError && listProblem.disposition === "wait";
      if (!isTemporary) throw listProblem;
    },
    async run(signal) {
      const each = (everyMs: () => number, read: () => Promise<unknown>) =>
        loop(signal, async () => {
          await read();
          return everyMs();
        });
      const listEveryMs = () => MINUTE_MS * Math.max(1, Math.ceil(listRequests / LISTS_A_MINUTE));
      const isNew = (read: MetricRead<unknown> | undefined) => read?.latest() !== undefined && read.ageS() < 1;
      await Promise.all([
        each(
          () => STATE_EVERY_MS,
          async () => isNew(state) || state?.run(),
        ),
        each(listEveryMs, async () => {
          if (!isNew(list)) await list.run();
          await judgeMissed();
        }),
        each(() => ACCOUNT_EVERY_MS, account.run),
        each(() => CATALOG_EVERY_MS, catalog.run),
        each(() => SPEND_EVERY_MS, spend.run),
        loop(signal, readQueues),
        loop(signal, readDetails),
      ]);
    },
    onRound: (listener) => void listeners.push(listener),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Returns the error for having more endpoints than the request budget allows. */
function tooMany(found?: number): Error {
  const has =
    found === undefined
      ? `The list of endpoints takes more than ${MOST_LIST_REQUESTS} requests`
      : `There are ${found} endpoints`;
  return new Error(
    `${has}: metrics reads at most ${MOST_ENDPOINTS}, and sends at most 20 management requests a minute. Choose endpoints ` +
      "with --filter or --stack, or run one process for each part of the account with a key of its own",
  );
}
