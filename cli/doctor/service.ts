import { CONFIG_NAMESPACE, clientOptions, type ProviderSettings } from "../../provider/connection/config";
import { createClient } from "../../sdk/client/client";
import { connectionLine } from "../../sdk/connection/resolver";
import {
  type AddressName,
  API_VARIABLE,
  ENVIRONMENT_VARIABLES,
  managementApi,
  requireAddress,
  serviceName,
} from "../../sdk/connection/settings";
import { CAPABILITIES } from "../../sdk/contract/capabilities";
import { systemClock } from "../../sdk/contract/clock";
import { END_OF_GRAPHQL, hasRestV1, LIST_CAP } from "../../sdk/contract/limits";
import { isLoopback } from "../../sdk/contract/loopback";
import { isOwnRefusal } from "../../sdk/diagnosis/refusals";
import { AuthenticationError, ConfigurationError, RateLimitError, ServerlessGpuError } from "../../sdk/errors/errors";
import { createAgent } from "../../sdk/transport/agents";
import { Closing } from "../../sdk/transport/closing";
import type { Http, WholeResponse } from "../../sdk/transport/httpRequest";
import { makeCall } from "../../sdk/transport/makeCall";
import { proxyHint } from "../../sdk/transport/proxy";
import { send } from "../../sdk/transport/send";
import { checkKeyAccount } from "./account";
import { type CheckResult, failed, ok, skipped, together, warning } from "./check";
import { checkNames, type Lists, readLists } from "./names";
import { type Configuration, problemOf } from "./settings";

const TIMEOUT_MS = 10_000;
/** Make a single attempt: the user is waiting and can run doctor again. */
const ONCE = { retry: { maxAttempts: 1, maxElapsedMs: TIMEOUT_MS }, attemptTimeoutMs: TIMEOUT_MS };
/** The number of records from which a list is considered nearly full. */
const NEARLY_FULL = LIST_CAP - 50;
const MAX_CLOCK_OFFSET_MS = 60_000;
const ADDRESS_NAMES: readonly AddressName[] = ["graphqlUrl", "restUrl", "queueUrl"];

/** Explains why a problem with the REST API is only a warning. */
const ONLY_PODS = ", which only getPod needs";

/** The response of one API to a request without a key. */
interface ServiceReply {
  readonly name: AddressName;
  readonly address?: string;
  readonly response?: WholeResponse;
  /**
   * The service's clock minus this machine's clock, in milliseconds; `undefined` if the response
   * has no `Date` header.
   */
  readonly clockOffsetMs?: number;
  /** The error, if there was no response. */
  readonly error?: ServerlessGpuError;
}

/** Sends a request to each URL in use. Any response counts as success. */
export async function askAddresses(settings: ProviderSettings): Promise<ServiceReply[]> {
  const agent = createAgent();
  const isUnknown = problemOf(() => serviceName(settings)) !== undefined;
  // Check the URLs even if the service is unknown.
  const known = isUnknown ? { ...settings, service: undefined } : settings;
  const service = known.service?.trim();
  const replies = ADDRESS_NAMES.filter((name) => name !== "restUrl" || hasRestV1(service)).map((name) =>
    ask({ agent, clock: systemClock, report: undefined, closing: new Closing(), proxyHint }, known, name),
  );
  return Promise.all(replies).finally(() => agent.close());
}

async function ask(http: Http, settings: ProviderSettings, name: AddressName): Promise<ServiceReply> {
  let address: string | undefined;
  try {
    address = requireAddress(settings, name);
    const request = { name, operation: name, method: "GET", url: address } as const;
    const sentAt = Date.now();
    const response = await makeCall(
      { clock: systemClock, random: Math.random, ...ONCE },
      {
        name,
        operation: name,
        repeatability: "safe",
        attempt: (attempt) => send(http, { ...request, attempt }),
      },
    );
    const clockOffsetMs = Date.parse(String(response.headers.date)) - (sentAt + Date.now()) / 2;
    return { name, address, response, ...(Number.isNaN(clockOffsetMs) ? {} : { clockOffsetMs }) };
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    return { name, ...(address === undefined ? {} : { address }), error };
  }
}

/** Checks that all URLs are set, use encryption, and respond. */
export function checkAddresses(
  replies: readonly ServiceReply[],
  { settings, sourceOf, isUnused }: Configuration,
): CheckResult {
  const missing = replies.filter(({ name, address }) => address === undefined && settings[name] === undefined);
  const others = replies.filter((reply) => !missing.includes(reply));
  if (isUnused && others.length === 0)
    return skipped("none is set, and each resource in state has a ServerlessGpuProvider");
  return together([
    ...(missing.length > 0 ? [addressesMissing(missing)] : []),
    ...others.map((reply) => checkAddress(reply, sourceOf)),
  ]);
}

/** Reports the API in use, and warns if it will be retired soon. */
export function checkApi({ settings, from }: Configuration): CheckResult {
  const unknownApi = problemOf(() => managementApi({ api: settings.api }));
  if (unknownApi !== undefined)
    return failed(unknownApi, `It is ${from.api ?? "not set"}: change it to graphql or v2, or remove it.`);
  if (problemOf(() => serviceName(settings)) !== undefined) return skipped("the settings name an unknown service");
  const line = connectionLine({ settings, from });
  const service = serviceName(settings);
  if (managementApi(settings) === "v2") return ok(line);
  if (service === undefined) return ok(line);
  return warning(
    `${line}. The service ${service} shuts down GraphQL in ${END_OF_GRAPHQL[service]}`,
    `Before then, set ${API_VARIABLE}=v2, and look at a preview. To keep REST v2, run: pulumi config set ${CONFIG_NAMESPACE}:api v2`,
  );
}

function addressesMissing(missing: readonly ServiceReply[]): CheckResult {
  const names = missing.map(({ name }) => name);
  const variables = names.map((name) => ENVIRONMENT_VARIABLES[name]).join(", ");
  const found = `${names.join(", ")} and a service name are not set`;
  const fix = `Set ${ENVIRONMENT_VARIABLES.service}=runpod, or ${variables}.`;
  return names.every((name) => name === "restUrl") ? warning(`${found}${ONLY_PODS}`, fix) : failed(found, fix);
}

function checkAddress(
  { name, address, response, error }: ServiceReply,
  sourceOf: Configuration["sourceOf"],
): CheckResult {
  if (address === undefined) return failed(error?.message ?? name, `${name} is ${sourceOf(name)}: correct it there.`);
  const fix = `Check ${address} (${sourceOf(name)}) and the connection to it.`;
  if (error && name === "restUrl") return warning(`${withCause(error)}${ONLY_PODS}`, fix);
  if (error) return failed(withCause(error), fix);
  if (response && response.status >= 500) return warning(`${name}: ${address} responds with ${response.status}`, fix);
  if (!isSafe(address)) {
    return warning(`${name}: ${address} is not https, so others can read the key in transit`, "Use https.");
  }
  return ok(`${name} ${address}`);
}

/** Returns `true` for https URLs and for this machine, because requests contain the key. */
function isSafe(address: string): boolean {
  return new URL(address).protocol === "https:" || isLoopback(address);
}

/** Appends undici's reason for a failed connection, such as a self-signed certificate. */
function withCause({ message, cause }: ServerlessGpuError): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

/** The findings of the checks that need the key. */
interface WithKey {
  readonly key: CheckResult;
  readonly account: CheckResult;
  readonly names: CheckResult;
  /** The account's records. A list that was not read, or may be cut off, is left out. */
  readonly lists: Lists;
}

/**
 * Checks with the cheapest query that the service accepts the key, and then checks the names in the
 * account.
 */
export async function askWithKey(configuration: Configuration, replies: readonly ServiceReply[]): Promise<WithKey> {
  const { settings } = configuration;
  const notRead = (key: CheckResult): WithKey => ({
    key,
    account: skipped("the key was not accepted, or not tried"),
    names: checkNames({}),
    lists: {},
  });
  if (settings.apiKey === undefined) return notRead(skipped("there is no key to try"));
  if (problemOf(() => clientOptions(settings)) !== undefined)
    return notRead(skipped("the key was not tried, because a setting is not valid"));
  const reply = replies.find(({ name }) => name === "graphqlUrl");
  if (reply?.response === undefined) return notRead(skipped(whyNotAsked(reply, settings)));
  try {
    const client = createClient({ ...clientOptions(settings), ...ONCE });
    const { endpoints } = client;
    const { showsDiscount } = CAPABILITIES[managementApi(settings)];
    // If the API does not show a discount, a list is the smallest query.
    const query = showsDiscount ? endpoints.getServerlessDiscount() : endpoints.listReadable();
    const asked = query.then(() => Promise.all([readLists(client), checkKeyAccount(client, settings)]));
    const [lists, account] = await asked.finally(client.close);
    const nearlyFull = nearlyFullLists(lists, settings);
    const key = nearlyFull.length > 0 ? together(nearlyFull) : ok(`accepted by ${reply.address}`);
    return { key, account, names: checkNames(lists), lists: nearlyFull.length > 0 ? {} : lists };
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    return notRead(keyNotAccepted(error, configuration.sourceOf("apiKey"), String(reply.address)));
  }
}

function whyNotAsked(reply: ServiceReply | undefined, settings: ProviderSettings): string {
  if (reply?.address !== undefined) return "graphqlUrl does not respond";
  return settings.graphqlUrl === undefined ? "graphqlUrl is not set" : "graphqlUrl is not valid";
}

/** Returns a warning for each GraphQL list that is cut off or soon will be. */
function nearlyFullLists({ endpoints = [], templates = [] }: Lists, settings: ProviderSettings): CheckResult[] {
  if (managementApi(settings) === "v2") return [];
  return Object.entries({ endpoints, templates }).flatMap(([noun, { length }]) =>
    length < NEARLY_FULL
      ? []
      : warning(
          `the account has ${length} ${noun} or more, and the service may list only the ${LIST_CAP} oldest over GraphQL`,
          `Delete ${noun} that you do not need, or set serverless-gpu:api to v2.`,
        ),
  );
}

function keyNotAccepted(error: ServerlessGpuError, source: string, address: string): CheckResult {
  const found = error.message.replace(/^the (serverless discount|list of endpoints): /, "");
  if (error instanceof RateLimitError) return warning(found, "Run doctor again in a minute.");
  if (error instanceof ConfigurationError)
    return failed(found, `The key is ${source}: copy it there again from the service's console.`);
  if (error instanceof AuthenticationError && !isOwnRefusal(error)) {
    return failed(
      found,
      `The service does not reject keys with such a response, so something else may have responded: check ${address}, and ` +
        `any proxies and gateways in between. If they are right, check the key, which is ${source}.`,
    );
  }
  if (error instanceof AuthenticationError) {
    return failed(
      found,
      `The key is ${source}. It may be mistyped or revoked, lack permission, or belong to a service other than ${address}. ` +
        "Copy it again, or create a new one.",
    );
  }
  if (error.status === 410) return failed(found, "Switch to REST v2. Trying again does not help.");
  return failed(found, `Check that ${address} is the URL of the management API, and try again later.`);
}

/** Checks that this machine's clock agrees with the service's clock. */
export function checkClock(replies: readonly ServiceReply[]): CheckResult {
  const offsets = replies.flatMap(({ clockOffsetMs, address }) =>
    clockOffsetMs === undefined ? [] : [{ address, clockOffsetMs }],
  );
  // A single server's clock may be wrong. Only blame this machine if it differs from all of them.
  const [nearest] = offsets.sort((a, b) => Math.abs(a.clockOffsetMs) - Math.abs(b.clockOffsetMs));
  if (!nearest) return skipped("no response had a Date header");
  const seconds = Math.round(Math.abs(nearest.clockOffsetMs) / 1000);
  if (Math.abs(nearest.clockOffsetMs) <= MAX_CLOCK_OFFSET_MS)
    return ok(`within ${seconds + 1} s of ${nearest.address}`);
  return warning(
    `this machine's clock is ${seconds} s ${nearest.clockOffsetMs > 0 ? "behind" : "ahead of"} ${nearest.address}`,
    "Synchronize it with a time server. Until then, dates in Retry-After and the deadlines of jobs are misread.",
  );
}
