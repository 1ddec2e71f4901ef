import { accountRecord } from "../../../provider/connection/account";
import { isObject } from "../../../provider/engine/properties";
import { endpointQueueUrl, serverUrl } from "../../../sdk/transport/urls";
import { classOf } from "../../stack";

/** The property that marks special values in a state, and its value for secrets. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** The name of the API key in the plugin's provider resource, and in that of the dynamic form. */
const KEY_NAMES = ["apiKey", "serverless-gpu:apiKey"];
const OWN_PROVIDER = /^pulumi:providers:(pulumi-nodejs|serverless-gpu)$/;

/** The placeholder for secrets that the program and the engine see. */
export const PLACEHOLDER = "rehearsal-placeholder";

/** A resource in the copied state. */
export interface CopiedResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  /** `true` if a replacement has deleted the record and not yet created the new one. */
  readonly pendingReplacement?: boolean;
  inputs?: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** The output of `pulumi stack export`. */
export interface Exported {
  readonly version: number;
  readonly deployment: { readonly resources?: CopiedResource[]; readonly [field: string]: unknown };
}

/** The emulator and the stack that the copy belongs to. */
export interface Stage {
  /** The emulator's URL. */
  readonly url: string;
  readonly apiKey: string;
  /** The `encryptionsalt` of the copied stack. */
  readonly salt: string;
  /** Real API keys, which the copy must not have. */
  readonly keys?: readonly string[];
}

/** A rewritten state, and notes on what was left out of it. */
export interface Rewritten {
  readonly state: Exported;
  readonly notes: string[];
}

/**
 * Rewrites a copy of a state so that it belongs to the emulator: its account, URLs and secrets
 * provider. Encrypted secrets become placeholders. Ids stay the same.
 */
export function rewriteState(exported: Exported, stage: Stage): Rewritten {
  const { resources = [], pending_operations: pending, metadata: _metadata, ...rest } = exported.deployment;
  const keys = [...(stage.keys ?? []), ...keysIn(resources)];
  const pairs = [...urlPairs(resources, stage.url), ...keys.map((key): [string, string] => [key, PLACEHOLDER])];
  const copied = resources.map((resource) => {
    const copy = rewritten(resource, pairs) as CopiedResource;
    if (classOf(copy.type) === undefined) return copy;
    const { outputs = {}, id = "" } = copy;
    if (outputs.__account !== undefined) outputs.__account = accountIn(outputs.__account, id, stage);
    return copy;
  });
  const isPending = Array.isArray(pending) && pending.length > 0;
  const deployment = {
    ...rest,
    secrets_providers: { type: "passphrase", state: { salt: stage.salt } },
    resources: copied,
  };
  return {
    state: { ...exported, deployment },
    notes: isPending
      ? [`${pending.length} operations of a killed run are left out: run pulumi up --refresh first`]
      : [],
  };
}

function accountIn(recorded: unknown, id: string, { url, apiKey }: Stage): string {
  const [, , ...provider] = String(recorded).split(" ");
  return accountRecord({ service: url, apiKey, provider: provider.join(" ") }, id);
}

/** Returns the API keys that a state contains as plain text, which are those of its providers. */
export function keysIn(resources: readonly CopiedResource[]): string[] {
  const keys = resources.flatMap(({ type, inputs = {}, outputs = {} }) =>
    OWN_PROVIDER.test(type) ? KEY_NAMES.flatMap((name) => [revealed(inputs[name]), revealed(outputs[name])]) : [],
  );
  return [...new Set(keys.filter((key): key is string => typeof key === "string" && key !== ""))];
}

/** Maps each endpoint URL in the state to its URL at the emulator. */
function urlPairs(resources: readonly CopiedResource[], url: string): [string, string][] {
  return resources.flatMap(({ type, id, outputs = {} }): [string, string][] => {
    if (classOf(type) !== "ServerlessEndpoint" || id === undefined) return [];
    const { queueUrl, url: server } = outputs;
    return [
      ...(typeof queueUrl === "string" ? [[queueUrl, endpointQueueUrl(url, id)] as [string, string]] : []),
      ...(typeof server === "string" ? [[server, serverUrl(url, id) ?? url] as [string, string]] : []),
    ];
  });
}

/** Replaces URLs with the emulator's, and encrypted secrets with placeholders. */
function rewritten(value: unknown, pairs: readonly [string, string][]): unknown {
  if (typeof value === "string") return pairs.reduce((text, [old, now]) => text.replaceAll(old, now), value);
  if (Array.isArray(value)) return value.map((each) => rewritten(each, pairs));
  if (!isObject(value)) return value;
  if (isSecret(value)) {
    const { plaintext } = value;
    return secretOf(typeof plaintext === "string" ? rewritten(JSON.parse(plaintext), pairs) : PLACEHOLDER);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rewritten(each, pairs)]));
}

/** Returns `true` if a value in a state is a secret. */
export function isSecret(value: unknown): value is Record<string, unknown> {
  return isObject(value) && value[SIGNATURE] === SECRET;
}

/**
 * Returns a secret with this value in plain text. The engine encrypts it when it imports the state.
 */
export function secretOf(value: unknown): Record<string, unknown> {
  return { [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) };
}

/** Returns the value of a secret in plain text. Other values are returned unchanged. */
export function revealed(value: unknown): unknown {
  return isSecret(value) && typeof value.plaintext === "string" ? JSON.parse(value.plaintext) : value;
}

/** Removes the secret marker from values at any depth. */
export function deeplyRevealed(value: unknown): unknown {
  const plain = revealed(value);
  if (Array.isArray(plain)) return plain.map(deeplyRevealed);
  if (!isObject(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).map(([name, each]) => [name, deeplyRevealed(each)]));
}

/**
 * Rejects a state that is not completely rewritten.
 * @throws Error that names the first resource that still refers to another account
 */
export function assertRewritten({ deployment }: Exported, { url, salt, keys = [] }: Stage): void {
  const refuse = (what: string): never => {
    throw new Error(`${what}, so the copy of the stack was not used. Nothing was started`);
  };
  const { secrets_providers: secrets, resources = [] } = deployment;
  if (JSON.stringify(secrets) !== JSON.stringify({ type: "passphrase", state: { salt } }))
    refuse("the copied state still has the secrets provider of the stack");
  if (deployment.pending_operations !== undefined) refuse("the copied state has operations of a killed run");
  for (const { urn, type, id = "", inputs, outputs = {} } of resources) {
    const text = JSON.stringify([inputs, outputs]);
    if (text.includes('"ciphertext"')) refuse(`${urn} still has an encrypted secret`);
    if (keys.some((key) => text.includes(key))) refuse(`${urn} still has an API key`);
    if (classOf(type) === undefined) continue;
    const { __account: account, queueUrl } = outputs;
    if (account !== undefined && !String(account).startsWith(`${url} `))
      refuse(`${urn} still belongs to another account`);
    if (queueUrl !== undefined && queueUrl !== endpointQueueUrl(url, id)) refuse(`${urn} still has another URL`);
  }
}
