import { AsyncLocalStorage } from "node:async_hooks";
import * as pulumi from "@pulumi/pulumi";
import { registrationOf } from "./traces";
import { isUnitTest } from "./unitTest";

/** The handlers of a refusal. They never end up in state. */
const PROVIDER =
  'exports.handler = () => ({ check: async (_, { reason }) => ({ failures: [{ property: "", reason }] }) });';

/** A resource whose check always fails with the given reason. */
class Refusal extends pulumi.CustomResource {
  constructor(reason: string) {
    super("pulumi-nodejs:dynamic/serverless-gpu:Refusal", "refusal", { reason, __provider: PROVIDER });
  }
}

/**
 * A provider that the engine rejects because of its invalid version. `--target` skips other
 * resources but not providers.
 */
class RefusedProvider extends pulumi.ProviderResource {
  constructor() {
    super("pulumi-nodejs", "refusal", { version: "none: the errors above are the reason" });
  }
}

const NO_PROGRAM = {};

const refusals = new WeakMap<object, Promise<Error | undefined>>();

/** Returns `true` in a program that the engine runs. */
export function hasEngine(): boolean {
  return pulumi.runtime.getStackResource() !== undefined && !isUnitTest();
}

/**
 * Makes the engine refuse the program. Rejecting a promise is not enough: if nobody awaits it, an
 * inline program of the Automation API counts as complete, and the engine deletes all resources
 * that were not registered.
 * @returns the error to fail everything that is waiting with, after the engine has ended the run.
 * Pulumi does not print it, because the engine has printed the reason. `undefined` if there is no
 * engine that could refuse the program.
 */
export function refuse({ message }: Error): Promise<Error | undefined> {
  const program = pulumi.runtime.getStackResource();
  if (!program || !hasEngine()) return Promise.resolve(undefined);
  const existing = refusals.get(program);
  if (existing) return existing;
  const refusal = register(message);
  refusals.set(program, refusal);
  return refusal;
}

/** Same as `refuse`, for a program that has already been refused for another reason. */
export function earlierRefusal(): Promise<Error | undefined> {
  return refusals.get(pulumi.runtime.getStackResource() ?? NO_PROGRAM) ?? Promise.resolve(undefined);
}

/** Returns a promise that rejects after the engine has refused the program. */
export function rejectedLater(error: Error): Promise<never> {
  // Rejects without a throwing function; see functions/invoke.ts.
  return new Promise((_, reject) => {
    refuse(error).then((ended) => reject(ended ?? error));
  });
}

/**
 * Keeps an inline program running until a promise has settled and all reactions to it have run.
 * They may declare resources, and the engine would delete resources that it has not seen.
 */
export function keepProgramRunning(promise: Promise<unknown>): void {
  if (!hasEngine()) return;
  const done = pulumi.runtime.rpcKeepAlive();
  const release = () => setImmediate(() => setImmediate(done));
  promise.then(release, release);
}

/** Refuses the program if it does not handle the promise's rejection. */
export function refuseUnlessHandled(error: Error): void {
  if (!hasEngine()) return;
  // Keep the program running until Node.js reports the rejection, which it does after all reactions
  // have run.
  const done = pulumi.runtime.rpcKeepAlive();
  const inThisProgram = AsyncLocalStorage.snapshot();
  const refuseSame = (reason: unknown) => {
    if (reason === error) inThisProgram(refuse, error);
  };
  process.on("unhandledRejection", refuseSame);
  setImmediate(() =>
    setImmediate(() => {
      process.off("unhandledRejection", refuseSame);
      done();
    }),
  );
}

async function register(reason: string): Promise<Error | undefined> {
  return (await failureOf(new Refusal(reason))) ?? (await lastResort(reason));
}

/** Refuses a program when the engine only registers the resources that `--target` names. */
async function lastResort(reason: string): Promise<Error | undefined> {
  await pulumi.log.error(reason);
  return failureOf(new RefusedProvider());
}

/** Returns the error of a registration; `undefined` if the engine skips the resource. */
function failureOf(resource: pulumi.Resource): Promise<Error | undefined> {
  return registrationOf(resource).then(
    () => undefined,
    (failure: Error) => failure,
  );
}
