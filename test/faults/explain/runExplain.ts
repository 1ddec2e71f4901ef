import { execFile } from "node:child_process";
import path from "node:path";
import { serve } from "./service";
import { ID, KEY, type World } from "./world";

const MAIN = path.resolve(__dirname, "../../../dist/cli/main.js");

export type Api = "v2" | "graphql";

export interface Cause {
  readonly id: string;
  readonly words: string;
  readonly certainty: "certain" | "likely" | "possible" | "unknown";
  readonly advice: string;
}

/** What the oracle reads of `explain --json`. */
export interface Answer {
  readonly causes: readonly Cause[];
  readonly others: readonly Cause[];
  readonly evidence: readonly { readonly text: string }[];
  readonly missing: readonly { readonly what: string; readonly why: string }[];
  readonly lines: readonly unknown[];
  readonly summary: string;
}

export interface Run {
  readonly answer: Answer;
  /** Everything that it printed. */
  readonly printed: string;
  readonly requests: readonly string[];
}

/** The client of another build, for a comparison. It is faster than a process for each run. */
const CLIENT = process.env.EXPLAIN_CLIENT;

async function diagnosed(url: string, api: Api): Promise<string> {
  const { createClient } = require(path.resolve(String(CLIENT))) as typeof import("../../../sdk");
  const client = createClient({ apiKey: KEY, graphqlUrl: url, restUrl: url, queueUrl: url, api, rateLimits: "off" });
  try {
    return JSON.stringify({ endpoints: [await client.endpoints.diagnose(ID, { logs: true })] });
  } finally {
    await client.close();
  }
}

/** Runs the command in a process of its own against a world. */
export async function runExplain(world: World, api: Api, home: string): Promise<Run> {
  const service = await serve(world);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SERVERLESS_GPU_API_KEY: KEY,
    SERVERLESS_GPU_GRAPHQL_URL: service.url,
    SERVERLESS_GPU_REST_URL: service.url,
    SERVERLESS_GPU_QUEUE_URL: service.url,
  };
  try {
    if (CLIENT) {
      const text = await diagnosed(service.url, api);
      const { endpoints } = JSON.parse(text) as { endpoints: readonly [Answer] };
      return { answer: endpoints[0], printed: text, requests: service.requests };
    }
    const printed = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
      const given = [MAIN, "explain", ID, "--logs", "--json", "--api", api];
      execFile(process.execPath, given, { cwd: home, env, timeout: 240_000 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
        else resolve({ stdout, stderr });
      });
    });
    const parsed = JSON.parse(printed.stdout) as { endpoints: readonly [Answer] };
    return { answer: parsed.endpoints[0], printed: printed.stdout + printed.stderr, requests: service.requests };
  } finally {
    await service.close();
  }
}
