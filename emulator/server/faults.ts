import { z } from "zod";

import type { Call, Interface } from "../io/http";
import { validate } from "../io/validate";
import { MAX_LIST_LAG_MS } from "../records/history";
import type { WorkerFaults } from "../workers/workerFaults";
import type { Operations } from "./routes";

/** A rule that makes the emulator misbehave for some requests. */
export interface FaultRule {
  /** The name of the rule in the journal. @default the names and values of its effects */
  readonly name?: string;
  /** The requests that the rule matches. All given fields must match. @default all requests */
  readonly match?: FaultMatch;
  /** The effect on them. */
  readonly effect: FaultEffect;
  /** The number of times that the rule is applied, whole, ≥ 1. @default indefinitely */
  readonly times?: number;
}

/** The requests that a fault rule matches. */
export interface FaultMatch {
  /** The interface of the request. */
  readonly interface?: Interface;
  /** `saveEndpoint`, `saveTemplate`, `myself`, `getPod`, `run`, `status`, … */
  readonly operation?: string;
  /** Id of the endpoint that the request names. */
  readonly endpointId?: string;
  /** Matches only the nth request that matches the fields above, counted from 1 since the rule was added. */
  readonly nth?: number;
  /** Matches each request with this probability, from 0 to 1. The emulator's `randomSeed` repeats the choices. */
  readonly probability?: number;
}

/** The effect of a fault rule. `latencyMs` combines with any other; apart from it, a rule has at most one. */
export interface FaultEffect {
  /** Waits before anything else, in milliseconds, ≥ 0. */
  readonly latencyMs?: number;
  /** Responds with this HTTP status, whole, 200 to 599. */
  readonly status?: number;
  /** Headers of that response, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of that response: a string as it is, any other value as JSON. @default an error in the form of the interface */
  readonly body?: unknown;
  /** Responds with status 200 and a GraphQL error. */
  readonly graphqlError?: {
    /** The message of the error. */
    readonly message: string;
    /** The `extensions.code` of the error. @default "INTERNAL_SERVER_ERROR" */
    readonly code?: string;
  };
  /** Responds with `{"data":{"myself":null}}`. */
  readonly nullAccount?: boolean;
  /** Responds with a web page, as a gateway does, with the status of `status` or 502. */
  readonly html?: boolean;
  /** Sends only the first half of the body, without an error. */
  readonly truncated?: boolean;
  /** Never responds. */
  readonly hang?: boolean;
  /** Resets the TCP connection; with `midway` after half of the response body. */
  readonly reset?: boolean | "midway";
  /** The moment of the failure: before or after the operation was executed. @default "before" */
  readonly when?: "before" | "after";
  /** Lists endpoints, templates, volumes and registry credentials as they were this long ago, in milliseconds, 0 to 60,000. */
  readonly listLagMs?: number;
  /** Fails a delivery of a webhook. The rule matches webhooks by `endpointId`, and no requests. */
  readonly dropWebhook?: boolean;
  /** Kills a worker when it starts a job. The rule matches starts of jobs by `endpointId`, and no requests. */
  readonly killWorker?: boolean;
  /** Makes a worker hang when it starts a job. The rule matches starts of jobs by `endpointId`, and no requests. */
  readonly hangWorker?: boolean;
  /**
   * Throttles a worker that starts, for this time in milliseconds, ≥ 0: the service has no machine for it. The rule
   * matches starts of workers by `endpointId`, and no requests. Can be combined with `imagePullMs`.
   */
  readonly throttleWorkerMs?: number;
  /**
   * Delays the cold start of a worker by this time in milliseconds, ≥ 0, as a large image does. The rule matches starts
   * of workers by `endpointId`, and no requests. Can be combined with `throttleWorkerMs`.
   */
  readonly imagePullMs?: number;
}

/** A rule with its counters. */
export interface ActiveFault extends FaultRule {
  /** The id of the rule, for `remove`. */
  readonly id: number;
  /** The name of the rule in the journal. */
  readonly name: string;
  /** The number of requests that matched, regardless of `nth` and `probability`. */
  readonly matched: number;
  /** The number of requests that the rule was applied to. */
  readonly applied: number;
}

/** The fault rules in order. Only the first rule that matches a request is applied. */
export interface Faults {
  /**
   * Adds a rule after the others.
   * @throws TypeError if the rule is malformed
   */
  add(rule: FaultRule): ActiveFault;
  /** Returns all rules, in order. */
  list(): ActiveFault[];
  /** Removes a rule. Returns `false` if there is no rule with the id. */
  remove(id: number): boolean;
  /** Removes all rules. */
  clear(): void;
}

const mainEffects = [
  "status",
  "graphqlError",
  "nullAccount",
  "html",
  "truncated",
  "hang",
  "reset",
  "listLagMs",
  "dropWebhook",
  "killWorker",
  "hangWorker",
  "throttleWorkerMs",
  "imagePullMs",
] as const;

type MainEffect = (typeof mainEffects)[number];

/** The pairs of effects that one rule may have. */
const PAIRS: readonly (readonly MainEffect[])[] = [
  ["status", "html"],
  ["throttleWorkerMs", "imagePullMs"],
];

function areCompatible(effect: FaultEffect): boolean {
  const given = mainEffects.filter((name) => effect[name]);
  return given.length <= 1 || PAIRS.some((pair) => given.every((name) => pair.includes(name)));
}

const effectSchema = z
  .strictObject({
    latencyMs: z.number().nonnegative().optional(),
    status: z.int().min(200).max(599).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.unknown().optional(),
    graphqlError: z.strictObject({ message: z.string(), code: z.string().optional() }).optional(),
    nullAccount: z.boolean().optional(),
    html: z.boolean().optional(),
    truncated: z.boolean().optional(),
    hang: z.boolean().optional(),
    reset: z.union([z.boolean(), z.literal("midway")]).optional(),
    when: z.enum(["before", "after"]).optional(),
    listLagMs: z.number().nonnegative().max(MAX_LIST_LAG_MS).optional(),
    dropWebhook: z.boolean().optional(),
    killWorker: z.boolean().optional(),
    hangWorker: z.boolean().optional(),
    throttleWorkerMs: z.number().nonnegative().optional(),
    imagePullMs: z.number().nonnegative().optional(),
  })
  .refine((effect) => areCompatible(effect as FaultEffect), {
    message: `at most one of ${mainEffects.join(", ")} can be given, except status together with html, and throttleWorkerMs together with imagePullMs`,
  });

const ruleSchema = z.strictObject({
  name: z.string().optional(),
  match: z
    .strictObject({
      interface: z.enum(["graphql", "rest", "v2", "queue"]).optional(),
      operation: z.string().optional(),
      endpointId: z.string().optional(),
      nth: z.int().positive().optional(),
      probability: z.number().min(0).max(1).optional(),
    })
    .optional(),
  effect: effectSchema,
  times: z.int().positive().optional(),
}) satisfies z.ZodType<FaultRule>;

type Subject = Pick<Call, "interface" | "operation" | "endpointId">;

/** Returns the rule to apply to a request, if any. */
export type NextFault = (call: Subject) => ActiveFault | undefined;

/** The events that a rule can apply to. */
type Subjects = "requests" | "webhooks" | "worker starts" | "job starts";

function subjectsOf({ dropWebhook, killWorker, hangWorker, throttleWorkerMs, imagePullMs }: FaultEffect): Subjects {
  if (dropWebhook) return "webhooks";
  if (killWorker || hangWorker) return "job starts";
  return throttleWorkerMs || imagePullMs ? "worker starts" : "requests";
}

/**
 * @param random returns a number in [0, 1)
 * @param operations returns the operations that requests can have
 */
export function createFaults(random: () => number, operations: () => Operations) {
  let rules: Writable<ActiveFault>[] = [];
  let added = 0;

  /** Counts the subject for every rule that it matches, and applies the first rule that is due. */
  function firstToApply(subject: Subject, subjects: Subjects): ActiveFault | undefined {
    const matching = rules.filter((rule) => subjectsOf(rule.effect) === subjects && matches(rule, subject));
    for (const rule of matching) rule.matched += 1;
    const first = matching.find(isDue);
    if (first) first.applied += 1;
    return first;
  }

  function isDue({ match = {}, matched, applied, times = Number.POSITIVE_INFINITY }: ActiveFault): boolean {
    if (applied >= times || (match.nth !== undefined && match.nth !== matched)) return false;
    return match.probability === undefined || random() < match.probability;
  }

  const faults: Faults = {
    add(rule) {
      const { name, ...rest } = structuredClone(validate(ruleSchema, rule, "This fault rule"));
      assertCanMatch(rest, operations());
      const active = { ...rest, id: ++added, name: name ?? nameOf(rest.effect), matched: 0, applied: 0 };
      rules.push(active);
      return { ...active };
    },
    list: () => rules.map((rule) => ({ ...rule })),
    remove(id) {
      const before = rules.length;
      rules = rules.filter((rule) => rule.id !== id);
      return rules.length < before;
    },
    clear() {
      rules = [];
    },
  };

  const next: NextFault = (call) => (rules.length === 0 ? undefined : firstToApply(call, "requests"));

  function dropsWebhook(endpointId: string): boolean {
    return firstToApply({ interface: "queue", operation: "webhook", endpointId }, "webhooks") !== undefined;
  }

  const workerFaults: WorkerFaults = {
    atStart(endpointId) {
      const rule = firstToApply({ interface: "queue", operation: "worker", endpointId }, "worker starts");
      const { throttleWorkerMs = 0, imagePullMs = 0 } = rule?.effect ?? {};
      return { throttledMs: throttleWorkerMs, imagePullMs };
    },
    atJob(endpointId) {
      const rule = firstToApply({ interface: "queue", operation: "job", endpointId }, "job starts");
      if (!rule) return undefined;
      return rule.effect.killWorker ? "die" : "hang";
    },
  };

  return { faults, next, dropsWebhook, workerFaults };
}

/** Throws a TypeError for a rule that could never match, because no request has its operation, or because it is not about requests. */
function assertCanMatch({ match = {}, effect }: FaultRule, operations: Operations): void {
  const subjects = subjectsOf(effect);
  if (subjects !== "requests" && (match.operation !== undefined || match.interface !== undefined))
    throw new TypeError(
      `The rule is about ${subjects}, not requests: leave "operation" and "interface" out of "match".`,
    );
  if (match.operation === undefined) return;
  assertOperation(match.operation, match.interface ? operations[match.interface] : Object.values(operations).flat());
}

/** @throws TypeError if an operation is none of those that exist */
export function assertOperation(operation: string, existing: readonly string[]): void {
  if (existing.includes(operation) || operation.startsWith("__")) return;
  throw new TypeError(`There is no operation "${operation}". There are: ${[...new Set(existing)].join(", ")}.`);
}

function matches({ match = {} }: FaultRule, subject: Subject): boolean {
  const fields = ["interface", "operation", "endpointId"] as const;
  return fields.every((field) => match[field] === undefined || match[field] === subject[field]);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Returns a name such as `status 503` or `latencyMs 100, hang`. */
function nameOf(effect: FaultEffect): string {
  const { headers: _, body: __, graphqlError, ...shown } = effect;
  const words = Object.entries(shown).map(([name, value]) => (value === true ? name : `${name} ${value}`));
  return [...words, ...(graphqlError ? [`graphqlError ${graphqlError.code ?? "INTERNAL_SERVER_ERROR"}`] : [])].join(
    ", ",
  );
}
