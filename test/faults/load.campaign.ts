import { readFile } from "node:fs/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";

/** For a shorter try: `FAULTS_LOAD=100 npm run test:faults -- load`. */
const COUNT = Number(process.env.FAULTS_LOAD ?? 1_000);

/** Allowed growth of the provider's process from beginning to end, in MB. */
const GROWTH_MB = 100;

const program = (workersMax: number) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
for (let i = 0; i < ${COUNT}; i++) {
  new ServerlessEndpoint("endpoint-" + i, { gpuIds: "AMPERE_24", templateId: "template", workersMax: ${workersMax} });
}
`;

/**
 * One request in twenty goes wrong, each in its own way; of the others one in a hundred is slow.
 */
function trouble(emulator: Emulator): void {
  const match = { interface: "graphql", probability: 0.01 } as const;
  emulator.faults.add({ match, effect: { status: 500 } });
  emulator.faults.add({ match, effect: { reset: true, when: "after" } });
  emulator.faults.add({ match, effect: { html: true } });
  emulator.faults.add({ match, effect: { truncated: true } });
  emulator.faults.add({ match, effect: { latencyMs: 1_000 } });
  emulator.faults.add({ match, effect: { status: 429, headers: { "retry-after": "1" } } });
}

test(`${COUNT} endpoints complete up, refresh, a change and destroy without help while 5 % of all requests fail`, async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0, randomSeed: 7 });
  const stack = await createStack({ program: program(1), env: emulator.env });
  trouble(emulator);
  const timed = async (what: string, work: () => Promise<unknown>) => {
    emulator.journal.clear();
    const startedAt = performance.now();
    const watch = watchMemory(stack);
    await work();
    const memory = watch.stop();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const faults = emulator.journal.requests().filter(({ fault }) => fault).length;
    const lists = emulator.journal.requests({ operation: "myself" }).length;
    process.stdout.write(
      `${what}: ${seconds} s, ${faults} faults, ${lists} lists, provider's memory ${memory.join(" → ")} MB\n`,
    );
    expect(growthOf(memory)).toBeLessThan(GROWTH_MB);
  };

  await timed("up", () => stack.up());
  const ids = emulator.endpoints.list().map(({ id }) => id);
  expect(ids).toHaveLength(COUNT);
  await timed("refresh", () => stack.refresh("--expect-no-changes"));
  await stack.writeProgram(program(2));
  await timed("change", () => stack.up());
  expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(ids);
  expect(emulator.endpoints.list().filter(({ workersMax }) => workersMax === 2)).toHaveLength(COUNT);
  await timed("destroy", () => stack.destroy());
  expect(emulator.endpoints.list()).toEqual([]);
}, 3_600_000);

/**
 * The resident memory of the provider's process over time, in MB: from when it has settled, every
 * ten seconds.
 */
function watchMemory(stack: PulumiStack) {
  const seen: number[] = [];
  const look = async () => {
    const provider = (await stack.processes()).find(({ command }) => command.includes("pulumi-resource-pulumi-nodejs"));
    if (!provider) return;
    const status = await readFile(`/proc/${provider.pid}/status`, "utf8").catch(() => "");
    const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
    if (kilobytes) seen.push(Math.round(Number(kilobytes) / 1024));
  };
  const timer = setInterval(() => void look(), 10_000);
  return {
    stop() {
      clearInterval(timer);
      return seen;
    },
  };
}

/**
 * Memory goes up and down between collections of garbage: the lowest of the last third less that of
 * the first third.
 */
function growthOf(memory: readonly number[]): number {
  const third = Math.ceil(memory.length / 3);
  return memory.length < 6 ? 0 : Math.min(...memory.slice(-third)) - Math.min(...memory.slice(0, third));
}
