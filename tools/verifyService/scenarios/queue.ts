import { TERMINAL_JOB_STATES } from "../../../sdk/contract/enums";
import {
  body,
  bodyKeys,
  deletion,
  deletionOf,
  type FindingOf,
  keysOf,
  observed,
  type Scenario,
  type ScenarioStep,
  status,
  UNKNOWN_ID,
} from "./scenario";

export const rest: Scenario = {
  name: "REST",
  steps: [
    {
      send: { rest: `/pods/${UNKNOWN_ID}`, key: "wrong" },
      findings: [
        ["rest.wrong-key", status],
        ["rest.unauthorized-body", body],
      ],
    },
    {
      send: { rest: `/pods/${UNKNOWN_ID}` },
      findings: [
        ["rest.bearer", ({ status }) => ({ status })],
        ["rest.unknown-pod", ({ status, body }) => ({ status, body })],
      ],
    },
    {
      send: { rest: `/pods/${UNKNOWN_ID}?includeMachine=maybe` },
      findings: [["rest.bad-flag", ({ status, body }) => ({ status, fields: keysOf(body) })]],
    },
    { send: { rest: "/no-such-path" }, findings: [["rest.other-paths", status]] },
  ],
};

const INPUT = { input: { prompt: "verify-service" } };

/** Returns the response status, the job's status, and the names of the job's fields. */
const record: FindingOf = ({ status, body }) => ({ status, job: body?.status ?? null, fields: keysOf(body) });

/** A job that stays in the queue, because the endpoint has no worker. */
const submit: ScenarioStep = { send: { queue: "run", json: INPUT }, as: "job" };
const PURGE: ScenarioStep = { send: { queue: "purge-queue", method: "POST" } };

export const queueErrors: Scenario = {
  name: "queue errors",
  steps: [
    {
      send: { queue: "health", key: "wrong" },
      findings: [
        ["queue.wrong-key", status],
        ["queue.unauthorized-body", bodyKeys],
      ],
    },
    { send: { queue: "health", key: "bare" }, as: "bare" },
    {
      send: { queue: "health" },
      findings: [["queue.key", ({ status }, { bare }) => ({ bare: bare?.status, bearer: status })]],
    },
    { send: { queue: `/${UNKNOWN_ID}/health` }, findings: [["queue.unknown-endpoint", status]] },
    { send: { queue: "no-such-operation" }, findings: [["queue.unknown-operation", status]] },
    {
      send: { queue: `status/${UNKNOWN_ID}` },
      findings: [
        ["queue.unknown-job", status],
        ["queue.error-body", bodyKeys],
      ],
    },
    { send: { queue: "run", json: { noInput: true } }, findings: [["queue.bad-request", status]] },
    { send: { queue: "runsync?wait=999", json: INPUT }, findings: [["queue.out-of-range", status]] },
  ],
};

export const waitingJobs: Scenario = {
  name: "waiting jobs",
  steps: [
    { send: { queue: "run", json: INPUT }, findings: [["queue.run", record]] },
    submit,
    { send: { queue: "status/{job}" }, findings: [["queue.status", record]] },
    { send: { queue: "status-sync/{job}?wait=1000" }, findings: [[observed("queue.status-sync"), record]] },
    {
      send: { queue: "stream/{job}" },
      findings: [
        [
          { contract: "queue.stream", observed: "queue.stream-observed" },
          ({ status, body }) => ({ status, fields: Array.isArray(body) ? "list" : keysOf(body) }),
        ],
      ],
    },
    { send: { queue: "retry/{job}", method: "POST" }, findings: [["queue.retry-wrong-state", status]] },
    { send: { queue: "cancel/{job}", method: "POST" }, findings: [["queue.cancel", record]] },
    { send: { queue: "cancel/{job}", method: "POST" }, findings: [["queue.cancel-ended", record]] },
    { send: { queue: "runsync?wait=1000", json: INPUT }, findings: [["queue.runsync-elapsed", record]] },
    {
      send: { queue: "run", json: { ...INPUT, webhook: null, policy: null } },
      findings: [["queue.null-fields", record]],
    },
  ],
};

export const purge: Scenario = {
  name: "the purge of the queue",
  steps: [
    PURGE,
    submit,
    { send: { queue: "run", json: INPUT } },
    {
      send: { queue: "health" },
      findings: [
        ["queue.health", ({ status, body }) => ({ status, jobs: keysOf(body?.jobs), inQueue: body?.jobs?.inQueue })],
        [observed("queue.health-observed"), ({ body }) => keysOf(body?.workers)],
      ],
    },
    {
      send: { queue: "requests" },
      findings: [["queue.requests", ({ status, body }) => ({ status, fields: keysOf(body) })]],
    },
    { ...PURGE, findings: [["queue.purge", ({ status, body }) => ({ status, removed: body?.removed })]] },
    { send: { queue: "status/{job}" }, findings: [["queue.purged-job", status]] },
  ],
};

/**
 * The shortest ttl that the contract allows, and a pause that also covers a service that only
 * checks periodically.
 */
const TTL_MS = 10_000;
const TTL_PAUSE_MS = 13_000;

export const timeToLive: Scenario = {
  name: "the time to live of a job",
  steps: [
    { send: { queue: "run", json: { ...INPUT, policy: { ttl: TTL_MS } } }, as: "job" },
    { send: { queue: "status/{job}" }, as: "before" },
    {
      send: { queue: "status/{job}" },
      pauseMs: TTL_PAUSE_MS,
      findings: [["queue.ttl", ({ status }, { before }) => ({ before: before?.status, after: status })]],
    },
  ],
};

/** How long a worker may take to start and run the job, in milliseconds. */
const JOB_MS = 240_000;
const ENDED: ReadonlySet<string> = new Set(TERMINAL_JOB_STATES);
const ends = (job: { status?: string } | undefined) => job?.status === "COMPLETED" || job?.status === "FAILED";

/**
 * Runs one job on one worker. The worker program belongs to the user, so neither its output nor its
 * success is compared.
 */
export const oneJob: Scenario = {
  name: "one job on one worker",
  steps: [
    PURGE,
    { send: { save: { workersMax: "1", idleTimeout: "1" } } },
    {
      send: { queue: "run", json: { ...INPUT, policy: { executionTimeout: 10_000, ttl: JOB_MS } }, once: true },
      as: "job",
    },
    {
      send: { queue: "status/{job}" },
      until: {
        fits: ({ status, body }) => status !== 200 || ENDED.has(body?.status),
        everyMs: 2000,
        atMostMs: JOB_MS,
      },
      findings: [
        [
          "queue.times",
          ({ body: job }) => ({
            ends: ends(job),
            delay: typeof job?.delayTime,
            execution: typeof job?.executionTime,
          }),
        ],
        [observed("queue.worker-id"), ({ body: job }) => ({ ends: ends(job), type: typeof job?.workerId })],
      ],
    },
    {
      send: { queue: "health" },
      findings: [
        [
          "queue.health-totals",
          ({ body }) => ({
            fields: keysOf(body?.jobs),
            ended: (body?.jobs?.completed ?? 0) + (body?.jobs?.failed ?? 0),
          }),
        ],
      ],
    },
    {
      send: { graphql: deletionOf("{endpoint}") },
      findings: [
        ["delete.workers-not-zero", deletion],
        ["delete.same-data", deletion],
      ],
    },
    { send: { save: {} } },
  ],
};
