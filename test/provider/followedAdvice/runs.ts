import { type Emulator, type EmulatorOptions, startEmulator } from "../../../emulator";
import { destroy, type Remembered, refresh, StepFailed, up } from "../../faults/engineMemory";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";
import { newMachine } from "../../support/rollOuts";

/** The result of a run of one resource: what state then holds, and everything that was printed. */
export interface Ran {
  readonly state: Remembered | undefined;
  readonly output: string;
  /** The error, if the run failed. */
  readonly error?: string;
}

/** Runs of one user on one machine, each in a provider process of its own, as with the engine. */
export async function startRuns(options: EmulatorOptions = {}, env: Readonly<Record<string, string>> = {}) {
  const emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 20, ...options });
  const runs = runsAt(emulator, newMachine(), env);
  return { emulator, ...runs, [Symbol.asyncDispose]: () => emulator.stop() };
}

/** Returns the commands of a user of this account. */
export function runsAt(emulator: Emulator, machine: string, env: Readonly<Record<string, string>> = {}) {
  async function run(
    step: (provider: Awaited<ReturnType<typeof startDynamicProvider>>) => Promise<Remembered | undefined>,
    further: Readonly<Record<string, string>>,
  ): Promise<Ran> {
    const provider = await startDynamicProvider({ ...emulator.env, XDG_CACHE_HOME: machine, ...env, ...further });
    try {
      const state = await step(provider);
      return { state, output: provider.output() };
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      return { state: error.remembered, output: provider.output() + error.message, error: error.message };
    } finally {
      await provider.stop();
    }
  }
  return {
    up: (program: Properties, state?: Remembered, further = {}) =>
      run((provider) => up(provider, program, state), further),
    refresh: (state: Remembered | undefined, further = {}) =>
      run((provider) => refresh(provider, state as Remembered), further),
    /** Returns the fields that make the engine replace the record. */
    async replaces(program: Properties, state: Remembered): Promise<readonly string[]> {
      await using provider = await startDynamicProvider({ ...emulator.env, XDG_CACHE_HOME: machine, ...env });
      const { inputs } = await provider.check(state.inputs, program);
      return (await provider.diff(state.id, state.outputs, inputs)).replaces;
    },
    destroy: (state: Remembered | undefined, further = {}) =>
      run((provider) => destroy(provider, state as Remembered), further),
  };
}

/** Checks that a run has succeeded, and returns what state holds. */
export function done({ state, error }: Ran): Remembered {
  expect(error).toBeUndefined();
  return state as Remembered;
}

const handlersOf = (name: string) => `exports.handler = () => require("pulumi-serverless-gpu/handlers").${name};`;
export const TEMPLATE = { __provider: handlersOf("templateV1"), name: "template", imageName: "app:1" };
export const VOLUME = {
  __provider: handlersOf("networkVolumeV1"),
  name: "models",
  size: 50,
  dataCenterId: "EU-RO-1",
};
export const REGISTRY_AUTH = {
  __provider: handlersOf("registryAuthV1"),
  name: "ghcr",
  username: "me",
  password: "password-of-play",
};
export const SECRET = { __provider: handlersOf("secretV1"), name: "hf_token" };
export const ENDPOINT = { name: "llama", gpuIds: "AMPERE_24", templateId: "template" };
