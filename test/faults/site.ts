import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import type { ManagementApi } from "../../sdk";
import { startDynamicProvider } from "../support/dynamicProvider";
import type { DynamicProvider } from "./engineMemory";

/** The key of all these tests. It must not appear anywhere. */
export const CANARY = "canary-key-5b7d90c2e4";

/**
 * A site where cells are played one after the other: a service, a provider process and a program
 * process.
 */
export interface Site {
  /** The management interface of the provider and the program. */
  readonly api: ManagementApi;
  /** The environment of both. */
  readonly env: Readonly<Record<string, string>>;
  readonly emulator: Emulator;
  readonly provider: DynamicProvider;
  /**
   * Calls one of the package's data sources in the program's process. Throws an error with its
   * message.
   */
  callDataSource(name: string, args: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** A job of an endpoint whose template is this one never ends. */
export const NEVER_ENDS = "never-ends";

export async function startSite(api: ManagementApi = "graphql"): Promise<Site> {
  const emulator = await startEmulator({
    profile: "contract",
    apiKey: CANARY,
    drainMs: 0,
    coldStartMs: 50,
    handlers: { [NEVER_ENDS]: () => new Promise(() => {}) },
    serverlessDiscount: { discountFactor: 0.5, type: "test", expirationDate: "2030-01-01" },
  });
  const env = { ...emulator.env, SERVERLESS_GPU_API: api };
  const provider = await startDynamicProvider(env);
  const program = fork(path.join(__dirname, "dataSourceProcess.js"), {
    env: { PATH: process.env.PATH, ...env },
    execArgv: [],
  });
  return {
    api,
    env,
    emulator,
    provider,
    async callDataSource(name, args) {
      program.send({ name, args });
      const [{ result, error }] = await once(program, "message");
      if (error !== undefined) throw new Error(error);
      return result;
    },
    async stop() {
      program.kill();
      await provider.stop();
      await emulator.stop();
    },
  };
}
