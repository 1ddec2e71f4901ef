import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type Emulator,
  type EmulatorOptions,
  type HandlerContext,
  type HandlerJob,
  startEmulator,
} from "../../emulator";
import { startDynamicProvider } from "./dynamicProvider";

/** The secret variable of the endpoint. */
export const TOKEN = "env-canary-roll-41d0";

/** The behavior of the workers, by the part of the image's name after the last hyphen. */
const PROGRAMS: Readonly<Record<string, (context: HandlerContext) => unknown>> = {
  good: async ({ sleep }) => {
    await sleep(50);
    return { text: "4" };
  },
  wrong: () => ({ text: "5" }),
  broken: ({ log, imageName, env }) => {
    log(`loading the weights of ${imageName} with ${env.HF_TOKEN}`);
    throw new Error("CUDA error: no kernel image is available");
  },
  hanging: () => new Promise(() => {}),
};

/** Failures in a fixed order, so that exactly this share fails. */
const everyNth = { failing: 16, old: 10 };
const counts = new Map<string, number>();

/** Only jobs of the load fail in turn. The test of a release always passes. */
export function runByImage({ input }: HandlerJob, context: HandlerContext): unknown {
  const kind = context.imageName.slice(context.imageName.lastIndexOf("-") + 1);
  const nth = everyNth[kind as keyof typeof everyNth];
  const isOfLoad = JSON.stringify(input).includes("load");
  if (nth !== undefined && !isOfLoad) return PROGRAMS.good?.(context);
  if (nth !== undefined) {
    const count = (counts.get(context.imageName) ?? 0) + 1;
    counts.set(context.imageName, count);
    if (count % nth === 0) throw new Error("out of memory");
    return PROGRAMS.good?.(context);
  }
  return PROGRAMS[kind]?.(context);
}

/** Starts an emulator whose workers run other code for each image. */
export const startService = (options: EmulatorOptions = {}): Promise<Emulator> =>
  startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 20, ...options, handlers: { default: runByImage } });

/** A folder of its own for the records of one machine. */
export const newMachine = () => mkdtempSync(path.join(tmpdir(), "machine-"));

/** Starts a provider process on a machine. */
export const startProvider = (emulator: Emulator, machine: string, api = "v2") =>
  startDynamicProvider({
    ...emulator.env,
    SERVERLESS_GPU_API: api,
    SERVERLESS_GPU_SERVICE: "runpod",
    XDG_CACHE_HOME: machine,
  });

/** The inputs of the endpoint with an image, and a rollout that tests it. */
export const programOf = (kind: string, rollOut: object = {}) => ({
  automaticName: "llama",
  gpuIds: ["ADA_24"],
  imageName: `me/llama-${kind}`,
  workersMin: 1,
  workersMax: 2,
  env: { HF_TOKEN: TOKEN, VERSION: kind },
  rollOut: { test: { input: { prompt: "2 + 2" }, expectedOutput: { text: "4" }, timeout: 5 }, timeout: 60, ...rollOut },
});

/** Returns the image and the variables that are in service, and how often they were saved. */
export function serving({ endpoints, templates, journal }: Emulator) {
  const [endpoint] = endpoints.list();
  const template = templates.list().find(({ id }) => id === endpoint?.templateId);
  return {
    image: template?.imageName,
    env: Object.fromEntries((template?.env ?? []).map(({ key, value }) => [key, value])),
    saves: journal.requests({ operation: "updateEndpoint" }).length,
  };
}
