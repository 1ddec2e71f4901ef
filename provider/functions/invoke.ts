import * as pulumi from "@pulumi/pulumi";
import type { Client } from "../../sdk/client";
import { requireAddress } from "../../sdk/config";
import { ServerlessGpuError } from "../../sdk/errors";
import { endpointQueueUrl } from "../../sdk/transport/urls";
import { clientFor } from "../connection/clients";
import { CONFIG_NAMESPACE, providerSettings, type ReadConfig } from "../connection/config";
import { type ServerlessGpuProvider, settingsOf } from "../connection/provider";
import { isUnitTest } from "../program/unitTest";

/** A look-up, apart from where it gets its account and its arguments. */
export interface LookUp<Args, Result> {
  /** Name of the function, as unit tests with Pulumi's mocks see it: `serverless-gpu:index:<name>`. */
  readonly name: string;
  readonly find: (context: LookUpContext, args: Args) => Promise<Result>;
  /** The result from what a mock returns, which is always an object. Default: the object itself. */
  readonly fromMock?: (mocked: Record<string, unknown>) => Result;
}

/** The account and the addresses that a look-up uses. */
export interface LookUpContext {
  readonly client: Client;
  /** Address of an endpoint's queue. */
  readonly queueUrlOf: (endpointId: string) => string;
}

/** Options of the look-ups that return outputs. */
export interface LookUpOptions {
  /** The account to look in. Default: that of the environment or of the stack's config. */
  readonly provider?: ServerlessGpuProvider;
  /**
   * Resources that must exist before the look-up, such as an endpoint that is looked up by a name in plain text. While
   * one of them is still to be created, the result is unknown. Resources that the arguments come from count anyway.
   */
  readonly dependsOn?: pulumi.InvokeOutputOptions["dependsOn"];
}

/** The arguments of a look-up, each of which may be an output. */
export type InputsOf<Args> = { readonly [K in keyof Args]: pulumi.Input<Args[K]> };

/** Looks up at once, in the account of the environment or of the stack's config. */
export function lookUp<Args, Result>(what: LookUp<Args, Result>, args: Args): Promise<Result> {
  return run(what, stackConfig(), args);
}

/**
 * Looks up when all arguments are known and the resources that they come from exist. Until then the result is unknown;
 * what is secret in the arguments makes it secret.
 */
export function lookUpOutput<Args, Result>(
  what: LookUp<Args, Result>,
  args: InputsOf<Args>,
  { provider, dependsOn }: LookUpOptions = {},
): pulumi.Output<Result> {
  const settings = provider ? settingsOf(provider) : pulumi.output(undefined);
  const look = ([resolved, explicit]: [unknown, Record<string, string | undefined> | undefined, unknown]) =>
    run(what, explicit ? (name) => explicit[name] : stackConfig(), resolved as Args);
  const given = pulumi.output<unknown>(args);
  return pulumi.all([given, settings, existing(given, dependsOn)]).apply(look) as pulumi.Output<Result>;
}

/** Known when all resources behind a value, and those that are named, have an id: in a preview, when they exist. */
function existing(given: pulumi.Output<unknown>, dependsOn: LookUpOptions["dependsOn"]): pulumi.Output<unknown> {
  const { allResources } = given as unknown as { allResources?: () => Promise<Set<pulumi.Resource>> };
  const behind = allResources?.() ?? Promise.resolve(new Set<pulumi.Resource>());
  const resources = pulumi.all([behind.then((all) => [...all]), dependsOn ?? []]) as unknown as pulumi.Output<
    [pulumi.Resource[], pulumi.Resource | pulumi.Resource[]]
  >;
  return resources.apply(([implicit, explicit]) => pulumi.all(idsOf([...implicit, ...[explicit].flat()])));
}

/** The ids of resources; of a component, those of the resources in it. */
function idsOf(resources: Iterable<pulumi.Resource>): pulumi.Output<string>[] {
  return [...resources].flatMap((resource) => {
    if (pulumi.CustomResource.isInstance(resource)) return resource.id ? [resource.id] : [];
    const { __childResources: children } = resource as { __childResources?: Set<pulumi.Resource> };
    return idsOf(children ?? []);
  });
}

/**
 * Settles a promise of its own, with a handler for the failure. Without it a failure may take all memory: Pulumi runs
 * programs with V8's debugger on, which follows each throw in an async function through every promise that waits for it
 * until it finds a handler, and it visits those behind derived outputs again on each path to them.
 */
function run<Args, Result>(what: LookUp<Args, Result>, readConfig: ReadConfig, args: Args): Promise<Result> {
  const look = isUnitTest() ? lookUpMocked(what, args) : lookUpNow(what, readConfig, args);
  return new Promise((resolve, reject) => {
    look.then(resolve, reject);
  });
}

async function lookUpNow<Args, Result>(
  { find }: LookUp<Args, Result>,
  readConfig: ReadConfig,
  args: Args,
): Promise<Result> {
  try {
    return await find(contextFor(readConfig), args);
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    // What a program does not catch is printed with its stack: the message is all that helps.
    throw Object.assign(error, { stack: `${error.name}: ${error.message}` });
  }
}

async function lookUpMocked<Args, Result>({ name, fromMock }: LookUp<Args, Result>, args: Args): Promise<Result> {
  const token = `${CONFIG_NAMESPACE}:index:${name}`;
  const mocked: Record<string, unknown> = await pulumi.runtime.invoke(token, args as pulumi.Inputs);
  return fromMock ? fromMock(mocked) : (mocked as Result);
}

function stackConfig(): ReadConfig {
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  return (name) => config.get(name);
}

function contextFor(readConfig: ReadConfig): LookUpContext {
  const settings = providerSettings(readConfig);
  return {
    client: clientFor(settings),
    queueUrlOf: (endpointId) => endpointQueueUrl(requireAddress(settings, "queueUrl"), endpointId),
  };
}
