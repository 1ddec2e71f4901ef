import * as pulumi from "@pulumi/pulumi";
import type { Client } from "../sdk/client";
import { requireAddress } from "../sdk/config";
import { ServerlessGpuError } from "../sdk/errors";
import { clientFor } from "./clients";
import { CONFIG_NAMESPACE, providerSettings, type ReadConfig } from "./config";
import { type ServerlessGpuProvider, settingsOf } from "./provider";

/** A look-up, apart from where it gets its account and its arguments. */
export type Find<Args, Result> = (context: LookUpContext, args: Args) => Promise<Result>;

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
}

/** The arguments of a look-up, each of which may be an output. */
export type InputsOf<Args> = { readonly [K in keyof Args]: pulumi.Input<Args[K]> };

/** Looks up at once, in the account of the environment or of the stack's config. */
export function lookUp<Args, Result>(find: Find<Args, Result>, args: Args): Promise<Result> {
  return run(find, stackConfig(), args);
}

/** Looks up when all arguments are known. Until then the result is unknown; what is secret in them makes it secret. */
export function lookUpOutput<Args, Result>(
  find: Find<Args, Result>,
  args: InputsOf<Args>,
  { provider }: LookUpOptions = {},
): pulumi.Output<Result> {
  const settings = provider ? settingsOf(provider) : pulumi.output(undefined);
  const look = ([resolved, explicit]: [unknown, Record<string, string | undefined> | undefined]) =>
    run(find, explicit ? (name) => explicit[name] : stackConfig(), resolved as Args);
  return pulumi.all([pulumi.output<unknown>(args), settings]).apply(look) as pulumi.Output<Result>;
}

async function run<Args, Result>(find: Find<Args, Result>, readConfig: ReadConfig, args: Args): Promise<Result> {
  try {
    return await find(contextFor(readConfig), args);
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    // What a program does not catch is printed with its stack: the message is all that helps.
    throw Object.assign(error, { stack: `${error.name}: ${error.message}` });
  }
}

function stackConfig(): ReadConfig {
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  return (name) => config.get(name);
}

function contextFor(readConfig: ReadConfig): LookUpContext {
  const settings = providerSettings(readConfig);
  return {
    client: clientFor(settings),
    queueUrlOf: (endpointId) => `${requireAddress(settings, "queueUrl")}/v2/${endpointId}`,
  };
}
