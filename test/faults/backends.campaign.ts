import { spawnSync } from "node:child_process";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { type CommandResult, createStack, endpointsIn, type PulumiStack, SCRATCH } from "../pulumi/harness";
import { BACKENDS } from "./backends";
import { API_ENV } from "./campaignApi";

// Where a team keeps its state: an `up`, a preview, runs that start together, and a destroy.

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const workersMax = new pulumi.Config().requireNumber("workersMax");
new ServerlessEndpoint("llama", { gpuIds: "ADA_24", templateId: "template", workersMax });
`;

const ROUNDS = 5;
const LOCKED = /the stack is currently locked by/;

/** Says how a run ended. Any other failure than the lock is one of this test. */
function outcome({ exitCode, output }: CommandResult): "applied" | "locked" {
  if (exitCode === 0) return "applied";
  expect(output).toMatch(LOCKED);
  return "locked";
}

/** Starts two runs together that change the endpoint. Returns how they ended. */
async function race(stack: PulumiStack, emulator: Emulator, workersMax: number): Promise<string> {
  await stack.setConfig({ workersMax: String(workersMax) });
  const up = () => stack.run(["up", "--yes", "--skip-preview"]);
  const outcomes = (await Promise.all([up(), up()])).map(outcome).sort().join(", ");
  expect(emulator.endpoints.list().length).toBeLessThanOrEqual(1);
  // Whatever happened, another run applies the program, and state and service agree.
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax }]);
  await stack.succeed(["refresh", "--preview-only", "--expect-no-changes"]);
  return outcomes;
}

describe.each(Object.entries(BACKENDS))("%s", (name, { needs, start }) => {
  const isHere = spawnSync("which", [needs]).status === 0;

  (isHere ? test : test.skip)(
    "keeps the state of runs that start together: one of them, or neither, changes the stack",
    async () => {
      await using backend = await start();
      await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
      // Without a parent of its own, its stack would be a copy from a folder.
      const parent = path.join(SCRATCH, "backends");
      const stack = await createStack({
        parent,
        program: PROGRAM,
        env: { ...emulator.env, ...API_ENV, ...backend.env },
      });

      // The first round begins without an endpoint.
      const counts = new Map<string, number>();
      for (let round = 1; round <= ROUNDS; round++) {
        const outcomes = await race(stack, emulator, round);
        counts.set(outcomes, (counts.get(outcomes) ?? 0) + 1);
      }
      const [endpoint] = emulator.endpoints.list();
      expect(endpointsIn(await stack.exportState())).toMatchObject([{ id: endpoint?.id }]);
      await stack.preview("--expect-no-changes");
      await stack.destroy();
      expect(emulator.endpoints.list()).toEqual([]);
      const shown = [...counts].map(([outcomes, times]) => `${outcomes} (${times})`);
      process.stdout.write(`\n${name}, two runs at once, ${ROUNDS} times: ${shown.join("; ")}\n`);
    },
  );
});
