import * as pulumi from "@pulumi/pulumi";
import type { Endpoint } from "../../sdk/endpoints/record";
import { CONFIG_NAMESPACE, providerSettings, type ReadConfig } from "../connection/config";
import { type ServerlessGpuProvider, settingsOf } from "../connection/provider";
import { type ResolvedArg, resolveArg } from "../program/resolvedArgs";
import { LIST_MAX_AGE_MS } from "../resource/sharedLists";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";

type ResolvedArgs = Readonly<Record<string, ResolvedArg>>;

/**
 * In a preview, logs the changes that an adoption makes, field by field, and fails if the endpoint does not exist. Does
 * nothing for an endpoint that the resource has already.
 */
export function previewAdoption(resource: pulumi.CustomResource, args: object | undefined): void {
  if (!args || !("adoptId" in args) || args.adoptId === undefined || !pulumi.runtime.isDryRun()) return;
  // Keeps the program from ending before this is done.
  const done = pulumi.runtime.rpcKeepAlive();
  logChanges(resource, args)
    // Failures are reported elsewhere: by the program's own outputs, or by the check of the inputs.
    .catch(() => undefined)
    .then(async (refusal) => {
      if (refusal === undefined) return;
      await pulumi.log.error(refusal, resource);
      // A logged error alone does not fail a program. This unhandled one does, and other resources continue.
      throw Object.assign(new pulumi.RunError("an endpoint to adopt does not exist"), { stack: "" });
    })
    .finally(() => setImmediate(done));
}

/** Returns the reason if the adoption is refused. */
async function logChanges(resource: pulumi.CustomResource, args: object): Promise<string | undefined> {
  // A new resource's id is not known in a preview.
  if (!(await resolveArg(resource.id)).isUnknown) return undefined;
  const entries = Object.entries(args).map(async ([name, arg]) => [name, await resolveArg(arg)] as const);
  const resolved: ResolvedArgs = Object.fromEntries(await Promise.all(entries));
  const { adoptId } = resolved;
  if (!adoptId || adoptId.isUnknown) return warnUnknown(resource, "adoptId is not known yet");
  if (typeof adoptId.value !== "string") return undefined;
  const id = adoptId.value;
  const readConfig = await configOf(resource);
  if (!readConfig) return warnUnknown(resource, "the provider's settings are not known yet");

  const show = (text: string) => (adoptId.isSecret ? text.replaceAll(id, "[secret]") : text);
  let found: Endpoint | undefined;
  try {
    const { clientFor } = require("../connection/clientFor") as typeof import("../connection/clientFor");
    found = await clientFor(providerSettings(readConfig)).endpoints.find(id, { maxAgeMs: LIST_MAX_AGE_MS });
  } catch (error) {
    return warnUnknown(resource, show(error instanceof Error ? error.message : String(error)));
  }
  if (!found) {
    return (
      `endpoint ${show(id)} does not exist in this account, so it cannot be adopted. Check adoptId and the API key. ` +
      "If it was deleted, remove adoptId to create a new endpoint"
    );
  }
  await pulumi.log.info(describeAdoption(found, show(id), resolved), resource);
  return undefined;
}

async function warnUnknown(resource: pulumi.CustomResource, reason: string): Promise<undefined> {
  await pulumi.log.warn(`the preview cannot show the changes of the adoption: ${reason}`, resource);
}

/** Returns the settings of the resource's provider; `undefined` while they are not known. */
async function configOf(resource: pulumi.CustomResource): Promise<ReadConfig | undefined> {
  const provider = resource.getProvider(SERVERLESS_ENDPOINT.type);
  if (!provider) {
    const config = new pulumi.Config(CONFIG_NAMESPACE);
    return (name) => config.get(name);
  }
  const { value, isUnknown } = await resolveArg(settingsOf(provider as ServerlessGpuProvider));
  return isUnknown ? undefined : (name) => (value as Record<string, string | undefined>)[name];
}

function describeAdoption(found: Endpoint, shownId: string, args: ResolvedArgs): string {
  const name = args.name?.isSecret ? "[secret]" : JSON.stringify(found.name);
  const changes = describeChanges(found, args);
  const effect =
    changes.length === 0 ? " Nothing changes" : ` The program changes:${changes.map((each) => `\n  ${each}`).join("")}`;
  return `endpoint ${shownId} (${name}) is adopted; no endpoint is created.${effect}`;
}

function describeChanges(found: Endpoint, args: ResolvedArgs): string[] {
  // Loaded here: programs that adopt nothing start without it.
  const { changedFields } = require("./diff") as typeof import("./diff");
  const { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS } =
    require("../../sdk/endpoints/fields") as typeof import("../../sdk/endpoints/fields");
  return ENDPOINT_FIELDS.flatMap((field) => {
    const arg = args[field];
    if (!arg) return [];
    // It may also be secret.
    if (arg.isUnknown) return [`${field}: to a value that is not known yet`];
    const value = normalForm(arg.value, (ENDPOINT_DEFAULTS as Record<string, unknown>)[field]);
    if (value === undefined || changedFields({ ...found }, { [field]: value }).length === 0) return [];
    return [
      arg.isSecret ? `${field}: [secret]` : `${field}: ${JSON.stringify(found[field])} → ${JSON.stringify(value)}`,
    ];
  });
}

/** Returns a value as the service shows it. The check of the inputs reports invalid values. */
function normalForm(value: unknown, byDefault: unknown): unknown {
  if (value === null) return byDefault;
  if (Array.isArray(value)) return value.join();
  return typeof value === "string" ? value.trim() : value;
}
