import { isDeepStrictEqual } from "node:util";
import { PROVIDER_TEXT, type Properties } from "../support/dynamicProvider";
import { destroy, type Remembered, StepFailed, up } from "./engineMemory";
import type { Fault } from "./faults";
import { type Operation, type Step, unless } from "./operations";
import { NEVER_ENDS, type Site } from "./site";

const ENDPOINT = { name: "llama", gpuIds: "AMPERE_24", templateId: "template", workersMax: 1, workersMin: 1 };

interface DataSource {
  readonly name: string;
  readonly interface: Step["interface"];
  readonly args: (endpointId: string) => Properties;
  /** String in the error, in addition to the cause. */
  readonly names?: RegExp;
}

const DATA_SOURCES: readonly DataSource[] = [
  { name: "getEndpoint", interface: "graphql", args: (id) => ({ id }), names: /endpoint-1|the list of endpoints/ },
  { name: "getEndpoint", interface: "graphql", args: () => ({ name: "llama" }), names: /llama|the list of endpoints/ },
  { name: "getEndpoints", interface: "graphql", args: () => ({}), names: /list of endpoints/ },
  { name: "getEndpointHealth", interface: "queue", args: (endpointId) => ({ endpointId }), names: /endpoint-1/ },
  { name: "getPod", interface: "rest", args: () => ({ podId: "pod-1", includeMachine: true }), names: /pod-1/ },
  { name: "getServerlessDiscount", interface: "graphql", args: () => ({}), names: /discount/ },
];

export const DATA_SOURCE_OPERATIONS: readonly Operation[] = DATA_SOURCES.map(({ name, args, names, ...step }) => ({
  name: `${name}${"name" in args("") ? " by name" : ""}`,
  // A list that is behind shows what was.
  ...(name === "getEndpoints" && { isOpenTo: ({ effect }: Fault) => !("listLagMs" in effect) }),
  steps: [{ name: "read", interface: step.interface, position: 1 }],
  ...(names && { names }),
  async prepare({ emulator, callDataSource }) {
    const { id } = emulator.endpoints.create({ id: "endpoint-1", ...ENDPOINT });
    emulator.pods.add({ id: "pod-1", env: {} });
    const given = args(id);
    const look = async () => withoutMoments(await callDataSource(name, given));
    const expected = await look();
    let found: unknown = expected;
    const run = async () => {
      found = await look();
    };
    const problems = () => [
      ...unless(isDeepStrictEqual(found, expected), `${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`),
      ...unless(emulator.journal.requests({ operation: "saveEndpoint" }).length === 0, "a data source wrote"),
    ];
    return { run, problems, recover: run, problemsAtLast: problems };
  },
}));

/** Removes the fields that change on their own. */
function withoutMoments(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result), (key, value) => (/^(pods|workers|env)$/.test(key) ? undefined : value));
}

const SMOKE_TEST_TEXT = PROVIDER_TEXT.replace(".v1", ".smokeTestV1");

function smokeTest(name: string, steps: readonly Step[], templateId: string, isToFail: boolean): Operation {
  return {
    name,
    steps,
    names: /endpoint-1/,
    ...(isToFail && { fails: /did not end within 1 s/ }),
    async prepare(site) {
      const { emulator, provider } = site;
      emulator.endpoints.create({ id: "endpoint-1", ...ENDPOINT, templateId });
      const program = {
        __provider: SMOKE_TEST_TEXT,
        endpointId: "endpoint-1",
        input: { prompt: "2 + 2" },
        timeout: isToFail ? 1 : 100,
      };
      let remembered: Remembered | undefined;
      let failedAtFirst = false;
      return {
        async run() {
          try {
            remembered = await up(provider, program, remembered);
          } catch (error) {
            failedAtFirst = true;
            throw error;
          }
        },
        problems: async () => atMost(1, await countJobs(site)),
        async recover() {
          if (remembered) return;
          const again = await up(provider, program, remembered).catch((error) => error);
          if (!isToFail && again instanceof StepFailed) throw again;
          if (isToFail) await unlessRunning(site);
          else remembered = again;
        },
        async problemsAtLast() {
          const jobs = await countJobs(site);
          const problems = atMost(failedAtFirst ? 2 : 1, jobs);
          if (remembered) await destroy(provider, remembered);
          return problems;
        },
      };
    },
  };
}

const atMost = (most: number, jobs: number) => unless(jobs <= most, `${jobs} jobs at the service, not ${most} at most`);

/** All jobs that the endpoint was ever given. */
async function countJobs({ emulator }: Site): Promise<number> {
  const { completed, failed, inProgress, inQueue } = (await health(emulator)).jobs;
  return completed + failed + inProgress + inQueue;
}

/** A job that took too long must not keep running. */
async function unlessRunning({ emulator }: Site): Promise<void> {
  const { inProgress, inQueue } = (await health(emulator)).jobs;
  if (inProgress + inQueue > 1) throw new Error("jobs that nobody waits for keep running");
}

interface Health {
  readonly jobs: Readonly<Record<"completed" | "failed" | "inProgress" | "inQueue", number>>;
}

async function health({ url, apiKey }: Site["emulator"]): Promise<Health> {
  const response = await fetch(`${url}/v2/endpoint-1/health`, { headers: { authorization: `Bearer ${apiKey}` } });
  return (await response.json()) as Health;
}

export const SMOKE_TEST_OPERATIONS: readonly Operation[] = [
  smokeTest(
    "smoke test",
    [
      { name: "run", interface: "queue", position: 1 },
      { name: "status", interface: "queue", position: 2 },
    ],
    "template",
    false,
  ),
  smokeTest("smoke test (too long)", [{ name: "cancel", interface: "queue", operation: "cancel" }], NEVER_ENDS, true),
];
