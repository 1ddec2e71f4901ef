import { z } from "zod";
import { MAX_LIST_LAG_MS } from "../endpoints/endpoints";
import type { Call, Interface } from "../io/http";
import { validate } from "../io/validate";

/** Makes the emulator misbehave for the requests that it matches. */
export interface FaultRule {
  /** How the journal calls it. @default the names of what it does */
  readonly name?: string;
  /** Which requests; every field that is given must agree. @default all */
  readonly match?: FaultMatch;
  /** What happens to them. */
  readonly effect: FaultEffect;
  /** How often it is applied before it has no effect any more. @default for ever */
  readonly times?: number;
}

/** Which requests a fault rule is for. */
export interface FaultMatch {
  /** The interface that is asked. */
  readonly interface?: Interface;
  /** `saveEndpoint`, `deleteEndpoint`, `myself`, `getPod`, `run`, `status`, … */
  readonly operation?: string;
  /** The endpoint that the request names. */
  readonly endpointId?: string;
  /** Only the nth request that agrees in the fields above, counted from 1 since the rule was added. */
  readonly nth?: number;
  /** Only this share of the requests, from 0 to 1, by the emulator's seeded chance. */
  readonly probability?: number;
}

/** What happens. `latencyMs` goes with any of the others; of the rest a rule has one at most. */
export interface FaultEffect {
  /** Waits this long, in milliseconds, before anything else happens. */
  readonly latencyMs?: number;
  /** Answers with this HTTP status. */
  readonly status?: number;
  /** Headers of that answer, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of that answer: a string as it is, anything else as JSON. @default an error in the interface's own form */
  readonly body?: unknown;
  /** Answers with status 200 and a GraphQL error. @default code "INTERNAL_SERVER_ERROR" */
  readonly graphqlError?: {
    /** The error's text. */
    readonly message: string;
    /** The error's `extensions.code`. */
    readonly code?: string;
  };
  /** Answers `{"data":{"myself":null}}`. */
  readonly nullAccount?: boolean;
  /** Answers with a web page, as a gateway does. Its status is 502 unless `status` says otherwise. */
  readonly html?: boolean;
  /** Sends only the first half of the body, as if it were all. */
  readonly truncated?: boolean;
  /** Never answers. */
  readonly hang?: boolean;
  /** Resets the TCP connection; `midway` after half of the answer's body. */
  readonly reset?: boolean | "midway";
  /** Whether the request had its effect on the service before it fails. @default "before": it had none */
  readonly when?: "before" | "after";
  /** The list of endpoints is as it was this long ago, in milliseconds, at most 60,000. */
  readonly listLagMs?: number;
  /** A try to deliver a webhook comes to nothing. Matches webhooks, by `endpointId`, and no requests. */
  readonly dropWebhook?: boolean;
}

/** A rule, and how it went so far. */
export interface ActiveFault extends FaultRule {
  /** What `remove` takes. */
  readonly id: number;
  /** How the journal calls it. */
  readonly name: string;
  /** How often it matched, by all but `nth` and `probability`. */
  readonly matched: number;
  /** How often it was applied. */
  readonly applied: number;
}

/** Fault rules in order: the first one that matches a request is applied, and no other. */
export interface Faults {
  /** Adds a rule behind the others. Throws when it is not well formed. */
  add(rule: FaultRule): ActiveFault;
  /** All rules, in order. */
  list(): ActiveFault[];
  /** Takes a rule away. Returns false when there is none. */
  remove(id: number): boolean;
  /** Takes all rules away. */
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
] as const;

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
  })
  // The page of `html` has a status of its own choice.
  .refine((effect) => mainEffects.filter((name) => effect[name] && !(name === "status" && effect.html)).length <= 1, {
    message: `at most one of ${mainEffects.join(", ")} can be given, but for status with html`,
  });

const ruleSchema = z.strictObject({
  name: z.string().optional(),
  match: z
    .strictObject({
      interface: z.enum(["graphql", "rest", "queue"]).optional(),
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

/** The rule to apply to a request. */
export type NextFault = (call: Subject) => ActiveFault | undefined;

/** @param random a source of randomness in [0, 1) */
export function createFaults(random: () => number) {
  let rules: Writable<ActiveFault>[] = [];
  let added = 0;

  /** Every rule that the subject agrees with counts it; the first that wants to is applied. */
  function firstToApply(subject: Subject, isForWebhooks: boolean): ActiveFault | undefined {
    const matching = rules.filter((rule) => !!rule.effect.dropWebhook === isForWebhooks && agrees(rule, subject));
    for (const rule of matching) rule.matched += 1;
    const first = matching.find(wantsToApply);
    if (first) first.applied += 1;
    return first;
  }

  function wantsToApply({ match = {}, matched, applied, times = Number.POSITIVE_INFINITY }: ActiveFault): boolean {
    if (applied >= times || (match.nth !== undefined && match.nth !== matched)) return false;
    return match.probability === undefined || random() < match.probability;
  }

  const faults: Faults = {
    add(rule) {
      const { name, ...rest } = structuredClone(validate(ruleSchema, rule, "This fault rule"));
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

  const next: NextFault = (call) => (rules.length === 0 ? undefined : firstToApply(call, false));

  function dropsWebhook(endpointId: string): boolean {
    return firstToApply({ interface: "queue", operation: "webhook", endpointId }, true) !== undefined;
  }

  return { faults, next, dropsWebhook };
}

function agrees({ match = {} }: FaultRule, subject: Subject): boolean {
  const fields = ["interface", "operation", "endpointId"] as const;
  return fields.every((field) => match[field] === undefined || match[field] === subject[field]);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** `status 503`, `reset after`, `latencyMs 100, hang`. */
function nameOf(effect: FaultEffect): string {
  const { headers: _, body: __, graphqlError, ...told } = effect;
  const words = Object.entries(told).map(([name, value]) => (value === true ? name : `${name} ${value}`));
  return [...words, ...(graphqlError ? [`graphqlError ${graphqlError.code ?? "INTERNAL_SERVER_ERROR"}`] : [])].join(
    ", ",
  );
}
