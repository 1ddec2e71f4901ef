import * as pulumi from "@pulumi/pulumi";
import type { NamedRecord } from "../../../sdk/records/listed";
import type { Arg, Args, PreviewedKind } from "../../adoption/description";
import { CONFIG_NAMESPACE, type ReadConfig } from "../../connection/config";
import { isObject } from "../../engine/properties";
import { explicitSettings } from "../resources/provider";
import { claimAdoptee } from "./adoptIds";
import { resolveArg } from "./resolvedArgs";

/** A resource class that can adopt records. */
export interface AdoptingClass<T extends NamedRecord> {
  /** The type in state. */
  readonly type: string;
  /** What messages call a record of this class, such as `an endpoint`. */
  readonly one: string;
  /** Loads the rules on demand, because most programs adopt nothing. */
  readonly loadKind: () => PreviewedKind<T>;
}

/**
 * In a preview, logs what the adoption will change, field by field, and fails if the record does
 * not exist or must not be adopted. It does nothing if the resource already manages the record.
 * Outside of a preview, claims the record (see `claimAdoptee`).
 */
export function followAdoption<T extends NamedRecord>(
  resource: pulumi.CustomResource,
  args: object | undefined,
  adopting: AdoptingClass<T>,
): void {
  if (!args || !("adoptId" in args) || args.adoptId === undefined) return;
  if (!pulumi.runtime.isDryRun()) {
    claimAdoptee(resource, args.adoptId);
    return;
  }
  // Keep the program from ending before this has finished.
  const done = pulumi.runtime.rpcKeepAlive();
  logChanges(resource, args, adopting)
    // The program's own outputs or the check of the inputs report these failures.
    .catch(() => undefined)
    .then(async (refusal) => {
      if (refusal === undefined) return;
      await pulumi.log.error(refusal, resource);
      // A logged error alone does not fail a program. An unhandled rejection does, and lets other
      // resources continue.
      throw Object.assign(new pulumi.RunError(`${adopting.one} cannot be adopted`), { stack: "" });
    })
    .finally(() => setImmediate(done));
}

/** Returns the reason if the adoption must be refused. */
async function logChanges<T extends NamedRecord>(
  resource: pulumi.CustomResource,
  declared: object,
  { type, loadKind }: AdoptingClass<T>,
): Promise<string | undefined> {
  // In a preview, the id of a new resource is not known.
  if (!(await resolveArg(resource.id)).isUnknown) return undefined;
  const entries = Object.entries(declared).map(async ([name, arg]) => [name, await resolve(arg)] as const);
  const args: Args = Object.fromEntries(await Promise.all(entries));
  const readConfig = await configOf(resource, type);
  // Loaded lazily, because most programs adopt nothing.
  const {
    lookAtAdoption,
    noPreview,
  }: typeof import("../../adoption/description") = require("../../adoption/description");
  const preview = readConfig
    ? await lookAtAdoption(loadKind(), readConfig, args)
    : noPreview("the provider's settings are not known yet");
  if (preview.warning !== undefined) await pulumi.log.warn(preview.warning, resource);
  if (preview.description !== undefined) await pulumi.log.info(preview.description, resource);
  return preview.refusal;
}

/**
 * Resolves an argument. A plain object's values are resolved individually, because some of them may
 * be secret or not yet known.
 */
async function resolve(arg: unknown): Promise<Arg> {
  const whole = await resolveArg(arg);
  const isPlainObject = typeof arg === "object" && arg !== null && Object.getPrototypeOf(arg) === Object.prototype;
  if (!isPlainObject) return whole;
  const parts = Object.entries(arg).map(async ([key, part]) => [key, await resolveArg(part)] as const);
  return { ...whole, parts: Object.fromEntries(await Promise.all(parts)) };
}

/** Returns the settings of the resource's provider; `undefined` while they are not known. */
async function configOf(resource: pulumi.CustomResource, type: string): Promise<ReadConfig | undefined> {
  const provider = resource.getProvider(type);
  if (!provider) {
    const config = new pulumi.Config(CONFIG_NAMESPACE);
    return (name) => config.get(name);
  }
  const { value, isUnknown } = await resolveArg(explicitSettings(provider));
  if (isUnknown || !isObject(value)) return undefined;
  return (name) => (typeof value[name] === "string" ? value[name] : undefined);
}
