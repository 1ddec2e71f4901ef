import * as pulumi from "@pulumi/pulumi";
import { ServerlessGpuError } from "../../sdk/errors/errors";
import { readOverAutomaticApi } from "../connection/automaticApi";
import { CONFIG_NAMESPACE, type ReadConfig } from "../connection/config";
import { contextFor, type DataSource } from "../functions/dataSource";
import { SOURCES, type SourceArgs, type SourceName, type SourceResult } from "../functions/sources";
import { keepProgramRunning, refuseUnlessHandled, rejectedLater } from "./program/refusal";
import { isUnitTest } from "./program/unitTest";
import { explicitSettings, type ServerlessGpuProvider } from "./resources/provider";

/** Options of data sources that return outputs. */
export interface InvokeOutputOptions {
  /**
   * The account to read from.
   * @default the account selected by the environment or the stack's config
   */
  readonly provider?: ServerlessGpuProvider;
  /**
   * Resources that must exist before the data source is read, such as an endpoint whose name is a
   * plain string. The result is unknown until all of them exist. Resources whose outputs are
   * arguments are always included.
   * @default none
   */
  readonly dependsOn?: pulumi.InvokeOutputOptions["dependsOn"];
}

/** The arguments of a data source. Each of them may be an output. */
export type InputsOf<Args> = { readonly [K in keyof Args]: pulumi.Input<Args[K]> };

/** Reads immediately from the account that the environment or the stack's config selects. */
export function invoke<Name extends SourceName>(name: Name, args: SourceArgs<Name>): Promise<SourceResult<Name>> {
  const found = run(name, stackConfig(), args, (error) => {
    refuseUnlessHandled(error);
    return Promise.reject(error);
  });
  keepProgramRunning(found);
  return found;
}

/**
 * Reads when all arguments are known and the resources that they come from exist. Until then, the
 * result is unknown. A secret argument makes the result secret.
 */
export function invokeOutput<Name extends SourceName>(
  name: Name,
  args: InputsOf<SourceArgs<Name>>,
  { provider, dependsOn }: InvokeOutputOptions = {},
): pulumi.Output<SourceResult<Name>> {
  const settings = provider ? explicitSettings(provider) : pulumi.output(undefined);
  const look = ([resolved, explicit]: [unknown, Record<string, string | undefined> | undefined, unknown]) =>
    run(name, explicit ? (setting) => explicit[setting] : stackConfig(), resolved as SourceArgs<Name>, rejectedLater);
  const given = pulumi.output<unknown>(args);
  const found = pulumi.all([given, settings, existing(given, dependsOn)]).apply(look) as pulumi.Output<
    SourceResult<Name>
  >;
  keepProgramRunning(resolutionOf(found));
  return found;
}

/** Returns a promise that settles when an output does, whether it is known or not. */
function resolutionOf(output: pulumi.Output<unknown>): Promise<unknown> {
  const { isKnown } = output as typeof output & { readonly isKnown: Promise<boolean> };
  return isKnown;
}

/**
 * Returns an output that becomes known when the resources behind a value, and those in `dependsOn`,
 * have ids.
 */
function existing(given: pulumi.Output<unknown>, dependsOn: InvokeOutputOptions["dependsOn"]): pulumi.Output<unknown> {
  const { allResources } = given as typeof given & { allResources?: () => Promise<Set<pulumi.Resource>> };
  const behind = allResources?.() ?? Promise.resolve(new Set<pulumi.Resource>());
  return pulumi
    .all([behind.then((all) => [...all]), dependsOn ?? []])
    .apply((resources) => pulumi.all(idsOf(resources.flat() as pulumi.Resource[])));
}

/** Returns the ids of resources. For a component, returns the ids of the resources in it. */
function idsOf(resources: Iterable<pulumi.Resource>): pulumi.Output<string>[] {
  return [...resources].flatMap((resource) => {
    if (pulumi.CustomResource.isInstance(resource)) return resource.id ? [resource.id] : [];
    const { __childResources: children } = resource as { __childResources?: Set<pulumi.Resource> };
    return idsOf(children ?? []);
  });
}

/**
 * Returns a promise whose rejection is handled. An unhandled one may use up all memory: Pulumi runs
 * programs with V8's debugger enabled, and for each throw in an async function the debugger follows
 * every waiting promise to find a handler, visiting the promises of derived outputs again on each
 * path.
 * @param whenFailed called with the error before the promise rejects
 */
function run<Name extends SourceName>(
  name: Name,
  readConfig: ReadConfig,
  args: SourceArgs<Name>,
  whenFailed: (error: Error) => Promise<never>,
): Promise<SourceResult<Name>> {
  const look = isUnitTest() ? callMock(name, args) : callService(name, readConfig, args);
  return new Promise((resolve, reject) => {
    look.then(
      (found) => resolve(found as SourceResult<Name>),
      (error: Error) => whenFailed(error).catch(reject),
    );
  });
}

async function callService<Name extends SourceName>(
  name: Name,
  readConfig: ReadConfig,
  args: SourceArgs<Name>,
): Promise<unknown> {
  try {
    const { find } = SOURCES[name] as DataSource<SourceArgs<Name>, unknown>;
    return await readOverAutomaticApi(async () => find(contextFor(readConfig), args), readConfig);
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    // Pulumi prints an uncaught error with its stack, of which only the message is useful.
    throw Object.assign(error, { stack: `${error.name}: ${error.message}` });
  }
}

async function callMock<Name extends SourceName>(name: Name, args: SourceArgs<Name>): Promise<unknown> {
  const { fromMock } = SOURCES[name];
  const token = `${CONFIG_NAMESPACE}:index:${name}`;
  const mocked: Record<string, unknown> = await pulumi.runtime.invoke(token, args as pulumi.Inputs);
  return fromMock ? fromMock(mocked) : mocked;
}

function stackConfig(): ReadConfig {
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  return (name) => config.get(name);
}
