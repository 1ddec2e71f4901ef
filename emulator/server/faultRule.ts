import { validateHeaderName, validateHeaderValue } from "node:http";
import { z } from "zod";
import { INTERFACES, type Interface } from "../io/http";
import { STOCK_LEVELS, type StockLevel, type StockPart } from "../model/stock";
import { MAX_LIST_LAG_MS } from "../records/history";

/** A rule that makes the emulator misbehave for certain requests. */
export interface FaultRule {
  /** The rule's name in the journal. @default the names and values of its effects */
  readonly name?: string;
  /** Which requests the rule matches. All given fields must match. @default all requests */
  readonly match?: FaultMatch;
  /** What happens to the matching requests. */
  readonly effect: FaultEffect;
  /** How many times the rule is applied (integer, ≥ 1). @default indefinitely */
  readonly times?: number;
}

/** The requests, or the part of the stock, that a fault rule matches. */
export interface FaultMatch extends StockPart {
  /** The API that the request uses. */
  readonly interface?: Interface;
  /** `saveEndpoint`, `saveTemplate`, `myself`, `getPod`, `run`, `status`, and so on. */
  readonly operation?: string;
  /** The id of the endpoint that the request refers to. */
  readonly endpointId?: string;
  /** The image of the starting worker, for rules about worker starts. */
  readonly imageName?: string;
  /**
   * Only matches the nth request that matches the other fields, counted from 1 since the rule was
   * added.
   */
  readonly nth?: number;
  /**
   * Matches each request with this probability, 0 to 1. The emulator's `randomSeed` makes the
   * choices repeatable.
   */
  readonly probability?: number;
}

/**
 * The effect of a fault rule. `latencyMs` can be combined with any other effect. Most other effects
 * cannot be combined.
 */
export interface FaultEffect {
  /** Waits before anything else happens, in milliseconds, ≥ 0. */
  readonly latencyMs?: number;
  /** Responds with this HTTP status (integer, 200 to 599). */
  readonly status?: number;
  /** Headers of the response sent for `status`, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The body of the response sent for `status`. A string is sent unchanged, and any other value as
   * JSON.
   * @default an error in the API's format
   */
  readonly body?: unknown;
  /** Responds with status 200 and a GraphQL error. */
  readonly graphqlError?: {
    /** The error message. */
    readonly message: string;
    /** The error's `extensions.code`. @default "INTERNAL_SERVER_ERROR" */
    readonly code?: string;
  };
  /** Responds with `{"data":{"myself":null}}`. */
  readonly nullAccount?: boolean;
  /** Responds with an HTML page, as a gateway would, and with `status` or 502. */
  readonly html?: boolean;
  /** Sends only the first half of the body and ends the response normally. */
  readonly truncated?: boolean;
  /** Never responds. */
  readonly hang?: boolean;
  /** Resets the TCP connection. With `midway`, this happens after half of the response body. */
  readonly reset?: boolean | "midway";
  /** Whether the failure happens before or after the operation runs. @default "before" */
  readonly when?: "before" | "after";
  /**
   * Lists show endpoints, templates, volumes and registry credentials as they were this many
   * milliseconds ago, 0 to 60,000.
   */
  readonly listLagMs?: number;
  /** Lists show no records. Reading a single record is not affected. */
  readonly emptyLists?: boolean;
  /** Fails a webhook delivery. The rule matches webhooks by `endpointId` and ignores requests. */
  readonly dropWebhook?: boolean;
  /**
   * Kills a worker when it starts a job. The rule matches job starts by `endpointId` and ignores
   * requests.
   */
  readonly killWorker?: boolean;
  /**
   * Makes a worker hang when it starts a job. The rule matches job starts by `endpointId` and
   * ignores requests.
   */
  readonly hangWorker?: boolean;
  /**
   * Throttles a starting worker for this many milliseconds, ≥ 0, as if no machine were free. The
   * rule matches worker starts by `endpointId` and ignores requests. Can be combined with
   * `imagePullMs`.
   */
  readonly throttleWorkerMs?: number;
  /**
   * Delays a worker's cold start by this many milliseconds, ≥ 0, as a large image would. The rule
   * matches worker starts by `endpointId` and ignores requests. Can be combined with
   * `throttleWorkerMs`.
   */
  readonly imagePullMs?: number;
  /**
   * Prevents a starting worker from pulling its image. The worker stays initializing, becomes
   * unhealthy after 7 minutes, and logs the error. The rule matches worker starts by `endpointId`
   * and ignores requests.
   */
  readonly imagePullError?: boolean;
  /**
   * Makes a starting worker's container exit after each start. The worker stays initializing,
   * becomes unhealthy after 7 minutes, and logs each start. The rule matches worker starts by
   * `endpointId` and ignores requests.
   */
  readonly crashLoop?: boolean;
  /**
   * Makes a starting worker become idle without taking any jobs. The rule matches worker starts by
   * `endpointId` and ignores requests.
   */
  readonly takesNoJobs?: boolean;
  /**
   * Removes all free machines: the catalog shows `None`, and no worker starts there. The rule
   * matches stock by `pool`, `gpuTypeId`, `dataCenterId` and `cudaVersion`, and ignores requests.
   * It applies until it is removed.
   */
  readonly soldOut?: boolean;
  /**
   * Sets the stock level of the matching part, like `soldOut`. `Absent` removes it from the
   * catalog.
   */
  readonly stock?: StockLevel;
}

/** The events that a rule can apply to. */
type Subjects = "requests" | "webhooks" | "worker starts" | "job starts" | "stock";

/** A kind of fault: a field of `FaultEffect`, and how the page offers it. */
interface FaultKind {
  readonly schema: z.ZodType;
  readonly appliesTo: Subjects;
  /** A description of the effect for the page. */
  readonly text: string;
  /** The value that the page suggests. If unset, the value is `true`. */
  readonly example?: string;
  /**
   * The field of the effect's value that the page's input sets.
   * @default the value itself, a number
   */
  readonly field?: string;
  /** The other kinds that a rule can combine with this one. @default none */
  readonly combinesWith?: "all" | readonly (keyof FaultEffect)[];
}

const milliseconds = z.number().nonnegative();

/**
 * All kinds of faults. The validation of rules and the choices on the page are derived from this
 * table.
 */
const KINDS = {
  latencyMs: {
    schema: milliseconds,
    appliesTo: "requests",
    text: "wait this many milliseconds",
    example: "2000",
    combinesWith: "all",
  },
  status: {
    schema: z.int().min(200).max(599),
    appliesTo: "requests",
    text: "respond with this HTTP status",
    example: "503",
    combinesWith: ["html"],
  },
  graphqlError: {
    schema: z.strictObject({ message: z.string(), code: z.string().optional() }),
    appliesTo: "requests",
    text: "respond with this GraphQL error",
    example: "Something went wrong",
    field: "message",
  },
  nullAccount: { schema: z.boolean(), appliesTo: "requests", text: "respond with myself: null" },
  html: { schema: z.boolean(), appliesTo: "requests", text: "respond with a gateway's web page" },
  truncated: { schema: z.boolean(), appliesTo: "requests", text: "send half of the body" },
  hang: { schema: z.boolean(), appliesTo: "requests", text: "never respond" },
  reset: {
    schema: z.union([z.boolean(), z.literal("midway")]),
    appliesTo: "requests",
    text: "reset the connection",
  },
  listLagMs: {
    schema: milliseconds.max(MAX_LIST_LAG_MS),
    appliesTo: "requests",
    text: "list endpoints as they were this many milliseconds ago",
    example: "5000",
  },
  emptyLists: { schema: z.boolean(), appliesTo: "requests", text: "list no records" },
  dropWebhook: { schema: z.boolean(), appliesTo: "webhooks", text: "lose a webhook delivery" },
  killWorker: { schema: z.boolean(), appliesTo: "job starts", text: "kill a worker when it starts a job" },
  hangWorker: { schema: z.boolean(), appliesTo: "job starts", text: "make a worker hang when it starts a job" },
  throttleWorkerMs: {
    schema: milliseconds,
    appliesTo: "worker starts",
    text: "throttle a starting worker for this many milliseconds",
    example: "10000",
    combinesWith: ["imagePullMs"],
  },
  imagePullMs: {
    schema: milliseconds,
    appliesTo: "worker starts",
    text: "delay the start of a worker by this many milliseconds",
    example: "10000",
  },
  imagePullError: { schema: z.boolean(), appliesTo: "worker starts", text: "fail to pull a worker's image" },
  crashLoop: { schema: z.boolean(), appliesTo: "worker starts", text: "end a worker's container after each start" },
  takesNoJobs: { schema: z.boolean(), appliesTo: "worker starts", text: "start a worker that takes no jobs" },
  soldOut: { schema: z.boolean(), appliesTo: "stock", text: "have no free GPU" },
  stock: {
    schema: z.enum(STOCK_LEVELS),
    appliesTo: "stock",
    text: "show this level of stock: High, Medium, Low, None or Absent",
    example: "Low",
  },
} as const satisfies Record<Exclude<keyof FaultEffect, "headers" | "body" | "when">, FaultKind>;

type KindName = keyof typeof KINDS;
type Shape = { [Name in KindName]: z.ZodOptional<(typeof KINDS)[Name]["schema"]> };

const kinds: readonly (readonly [KindName, FaultKind])[] = Object.entries(KINDS) as [KindName, FaultKind][];

/** A kind of fault as the page offers it. */
export interface FaultChoice extends Pick<FaultKind, "text" | "example" | "field"> {
  readonly name: string;
  /** `true` if the rule can only match by endpoint, and not by request. */
  readonly onlyEndpoint: boolean;
}

/** Returns the kinds of faults to choose from. */
export function faultChoices(): FaultChoice[] {
  return kinds.map(([name, { text, example, field, appliesTo }]) => ({
    name,
    text,
    onlyEndpoint: appliesTo !== "requests",
    ...(example !== undefined && { example }),
    ...(field !== undefined && { field }),
  }));
}

/** Returns the events that a rule with this effect applies to. */
export function subjectsOf(effect: FaultEffect): Subjects {
  const special = kinds.find(([name, { appliesTo }]) => appliesTo !== "requests" && effect[name]);
  return special?.[1].appliesTo ?? "requests";
}

/** The kinds that cannot be combined in a rule, and the pairs that can. */
const single = kinds.filter(([, { combinesWith }]) => combinesWith !== "all");
const pairs = single.flatMap(([name, { combinesWith = [] }]) =>
  combinesWith === "all" ? [] : combinesWith.map((other) => [name, other] as const),
);

function areCompatible(effect: FaultEffect): boolean {
  const given = single.map(([name]) => name).filter((name) => effect[name]);
  return given.length <= 1 || pairs.some((pair) => given.every((name) => pair.includes(name)));
}

const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      context.addIssue({ code: "custom", path: [name], message: (error as Error).message });
    }
  }
});

const effectSchema = z
  .strictObject({
    ...(Object.fromEntries(kinds.map(([name, { schema }]) => [name, schema.optional()])) as Shape),
    headers: headersSchema.optional(),
    body: z.unknown().optional(),
    when: z.enum(["before", "after"]).optional(),
  })
  .refine((effect) => areCompatible(effect as FaultEffect), {
    message:
      `at most one of ${single.map(([name]) => name).join(", ")} can be given, except ` +
      pairs.map(([one, other]) => `${one} together with ${other}`).join(", and "),
  });

/** The schema of a fault rule. */
export const ruleSchema = z.strictObject({
  name: z.string().optional(),
  match: z
    .strictObject({
      interface: z.enum(INTERFACES).optional(),
      operation: z.string().optional(),
      endpointId: z.string().optional(),
      imageName: z.string().optional(),
      nth: z.int().positive().optional(),
      probability: z.number().min(0).max(1).optional(),
      pool: z.string().min(1).optional(),
      gpuTypeId: z.string().min(1).optional(),
      dataCenterId: z.string().min(1).optional(),
      cudaVersion: z.string().min(1).optional(),
    })
    .optional(),
  effect: effectSchema,
  times: z.int().positive().optional(),
}) satisfies z.ZodType<FaultRule>;

/** Returns a name such as `status 503` or `latencyMs 100, hang`. */
export function nameOf(effect: FaultEffect): string {
  const { headers: _, body: __, graphqlError, ...shown } = effect;
  const words = Object.entries(shown).map(([name, value]) => (value === true ? name : `${name} ${value}`));
  return [...words, ...(graphqlError ? [`graphqlError ${graphqlError.code ?? "INTERNAL_SERVER_ERROR"}`] : [])].join(
    ", ",
  );
}
