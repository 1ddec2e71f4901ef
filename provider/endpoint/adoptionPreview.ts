import * as pulumi from "@pulumi/pulumi";
import type { Endpoint } from "../../sdk/endpoints/record";
import { CONFIG_NAMESPACE, providerSettings, type ReadConfig } from "../connection/config";
import { type ServerlessGpuProvider, settingsOf } from "../connection/provider";
import { type ResolvedArg, resolveArg } from "../program/resolvedArgs";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";

/** Resources of one preview share a list of endpoints that is no older than this. */
const LIST_MAX_AGE_MS = 60_000;

type ResolvedArgs = Readonly<Record<string, ResolvedArg>>;

/**
 * In a preview, tells field by field what taking an endpoint over changes, and fails for an id that does not exist. An
 * endpoint that the resource has already is neither looked up nor told of.
 */
export function previewAdoption(resource: pulumi.CustomResource, args: object | undefined): void {
  if (!args || !("adoptId" in args) || args.adoptId === undefined || !pulumi.runtime.isDryRun()) return;
  // The program must not end before.
  const done = pulumi.runtime.rpcKeepAlive();
  tellChanges(resource, args)
    // What fails is reported elsewhere: of the program's own outputs, or by the check of the inputs.
    .catch(() => undefined)
    .then(async (refusal) => {
      if (refusal === undefined) return;
      await pulumi.log.error(refusal, resource);
      // A logged error alone does not fail a program. Nobody catches this one, which does, while other resources go on.
      throw Object.assign(new pulumi.RunError("an endpoint that is to be adopted does not exist"), { stack: "" });
    })
    .finally(() => setImmediate(done));
}

/** Returns why the adoption is refused, if it is. */
async function tellChanges(resource: pulumi.CustomResource, args: object): Promise<string | undefined> {
  // A new resource's id is not known in a preview.
  if (!(await resolveArg(resource.id)).isUnknown) return undefined;
  const entries = Object.entries(args).map(async ([name, arg]) => [name, await resolveArg(arg)] as const);
  const resolved: ResolvedArgs = Object.fromEntries(await Promise.all(entries));
  const { adoptId } = resolved;
  if (!adoptId || adoptId.isUnknown) return cannotTell(resource, "adoptId is not known yet");
  if (typeof adoptId.value !== "string") return undefined;
  const id = adoptId.value;
  const readConfig = await configOf(resource);
  if (!readConfig) return cannotTell(resource, "the provider's settings are not known yet");

  const show = (text: string) => (adoptId.isSecret ? text.replaceAll(id, "[secret]") : text);
  let found: Endpoint | undefined;
  try {
    const { clientFor } = require("../connection/clientFor") as typeof import("../connection/clientFor");
    found = await clientFor(providerSettings(readConfig)).endpoints.find(id, { maxAgeMs: LIST_MAX_AGE_MS });
  } catch (error) {
    return cannotTell(resource, show(error instanceof Error ? error.message : String(error)));
  }
  if (!found) {
    return (
      `endpoint ${show(id)} does not exist in this account, so it cannot be taken over. Check adoptId and the API key; ` +
      "if it was deleted, take adoptId out, and a new one is created"
    );
  }
  await pulumi.log.info(describeAdoption(found, show(id), resolved), resource);
  return undefined;
}

async function cannotTell(resource: pulumi.CustomResource, reason: string): Promise<undefined> {
  await pulumi.log.warn(`the preview cannot tell what taking the endpoint over changes: ${reason}`, resource);
}

/** The settings of the resource's provider; nothing while they are not known. */
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
  const told =
    changes.length === 0 ? " Nothing changes" : ` The program changes:${changes.map((each) => `\n  ${each}`).join("")}`;
  return `endpoint ${shownId} (${name}) is taken over, none is created.${told}`;
}

function describeChanges(found: Endpoint, args: ResolvedArgs): string[] {
  // Loaded here: programs that adopt nothing start without it.
  const { changedFields } = require("./diff") as typeof import("./diff");
  const { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS } =
    require("../../sdk/endpoints/input") as typeof import("../../sdk/endpoints/input");
  return ENDPOINT_FIELDS.flatMap((field) => {
    const arg = args[field];
    if (!arg) return [];
    // Whether it is secret is not known either.
    if (arg.isUnknown) return [`${field}: to a value that is not known yet`];
    const value = normalForm(arg.value, (ENDPOINT_DEFAULTS as Record<string, unknown>)[field]);
    if (value === undefined || changedFields({ ...found }, { [field]: value }).length === 0) return [];
    return [
      arg.isSecret ? `${field}: [secret]` : `${field}: ${JSON.stringify(found[field])} → ${JSON.stringify(value)}`,
    ];
  });
}

/** As the service would show it. What is not valid is for the check of the inputs to report. */
function normalForm(value: unknown, byDefault: unknown): unknown {
  if (value === null) return byDefault;
  if (Array.isArray(value)) return value.join();
  return typeof value === "string" ? value.trim() : value;
}
