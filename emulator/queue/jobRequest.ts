import { EXECUTION_TIMEOUT_MS, JOB_TTL_MS, RUNSYNC_WAIT_MS } from "../../sdk/contract/limits";
import type { JobRequest } from "../jobs/jobStates";
import type { FidelityId, Profile } from "../model/fidelity";

/** A malformed request. The response has status 400 and this message. */
export class BadRequest extends Error {
  constructor(
    message: string,
    readonly fidelity?: FidelityId,
  ) {
    super(message);
  }
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/**
 * Reads the body of `/run` and `/runsync` (contract, Job request body). Ignores unknown fields.
 * @param defaults the endpoint's policy for jobs that don't set one
 * @throws BadRequest if the body is malformed
 */
export function readJobRequest(payload: unknown, profile: Profile, defaults: JobRequest["policy"]): JobRequest {
  if (!isRecord(payload)) throw new BadRequest("the body must be a JSON object");
  const { input, webhook, policy, s3Config } = payload;
  if (!isRecord(input)) throw new BadRequest("input is required and must be an object");
  return {
    input,
    policy: readPolicy(policy ?? {}, profile, defaults),
    ...(webhook != null && { webhook: readWebhook(webhook) }),
    ...(s3Config != null && { s3Config: readS3Config(s3Config) }),
  };
}

/** Returns the query parameter `ttl` of `/status`; `undefined` if it is missing. */
export function readTtl(query: URLSearchParams): number | undefined {
  return readInteger(query, "ttl", JOB_TTL_MS);
}

/** Returns the query parameter `wait` of `/runsync` and `/status-sync`. */
export function readWait(query: URLSearchParams): number {
  return readInteger(query, "wait", RUNSYNC_WAIT_MS) ?? RUNSYNC_WAIT_MS.default;
}

/** Returns the query parameter `wait` of `/stream`; `undefined` if it is missing. */
export function readStreamWait(query: URLSearchParams): number | undefined {
  return readInteger(query, "wait", { min: 0, max: RUNSYNC_WAIT_MS.max });
}

/** `null` counts as absent, because clients send unset fields this way. */
function readPolicy(policy: unknown, profile: Profile, defaults: JobRequest["policy"]): JobRequest["policy"] {
  if (!isRecord(policy)) throw new BadRequest("policy must be an object");
  const { executionTimeout, lowPriority = defaults.lowPriority, ttl } = withoutNulls(policy);
  if (typeof lowPriority !== "boolean") throw new BadRequest("policy.lowPriority must be true or false");
  return {
    executionTimeout:
      executionTimeout === undefined
        ? defaults.executionTimeout
        : inRange("policy.executionTimeout", executionTimeout, executionTimeouts(profile)),
    lowPriority,
    ttl: ttl === undefined ? defaults.ttl : inRange("policy.ttl", ttl, JOB_TTL_MS),
  };
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/**
 * The observed service accepts shorter timeouts (assumed, because its client's own example sends
 * one).
 */
function executionTimeouts(profile: Profile): Range {
  return profile === "observed" ? { ...EXECUTION_TIMEOUT_MS, min: 1 } : EXECUTION_TIMEOUT_MS;
}

function readWebhook(webhook: unknown): string {
  const url = typeof webhook === "string" && URL.canParse(webhook) ? new URL(webhook) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") throw new BadRequest("webhook must be an http(s) URL");
  return webhook as string;
}

function readS3Config(s3Config: unknown): Record<string, string> {
  const fields = ["accessId", "accessSecret", "bucketName", "endpointUrl"];
  if (!isRecord(s3Config)) throw new BadRequest("s3Config must be an object");
  const given = fields.filter((field) => s3Config[field] != null);
  const wrong = given.find((field) => typeof s3Config[field] !== "string");
  if (wrong) throw new BadRequest(`s3Config.${wrong} must be a string`);
  return Object.fromEntries(given.map((field) => [field, s3Config[field] as string]));
}

function readInteger(query: URLSearchParams, name: string, range: Range): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return inRange(name, /^-?\d+$/.test(text) ? Number(text) : Number.NaN, range);
}

function inRange(name: string, value: unknown, { min, max }: Range): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw new BadRequest(`${name} must be an integer number of milliseconds from ${min} to ${max}`, "queue.out-of-range");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
