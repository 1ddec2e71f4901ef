import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";
import { EARLY, INLINE, LATE, PROGRAMS } from "./refusedPrograms";

const REASONS: Record<string, string> = {
  argument: '"bad": workersMax must be a whole number',
  import: '"bad": a ServerlessEndpoint cannot be imported',
  replaceWith: '"bad": adoptId cannot be combined with the option replaceWith',
  adoptId: 'the resources "bad" and "worse" have the same adoptId',
  adoptTemplate: 'the resources "bad" and "worse" have the same adoptId',
  smokeTest: '"bad": input must be an object',
  provider: 'the provider "bad" needs either apiKey or apiKeyEnv',
  providerUrls: 'the provider "bad" has no graphqlUrl and no queueUrl: set its service: "runpod"',
  commands: '"bad": set either command or dockerArgs',
  transformed: '"bad": a ServerlessEndpoint cannot be imported',
  command: '"bad": command must be an object with the lists cmd and entrypoint',
  output: "typo",
  noSelector: "set either id or name",
  promise: "typo",
};

interface Result {
  readonly stackName: string;
  readonly mistake?: string;
  readonly failed: boolean;
  readonly output: string;
}

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", coldStartMs: 0, drainMs: 0 });
  const program = 'module.exports = require("./programs.js").program(process.env.MISTAKE, false);';
  stack = await createStack({ program, env: emulator.env });
  await stack.writeFile("programs.js", PROGRAMS);
  await stack.writeFile("inline.js", INLINE);
}, 600_000);

afterAll(() => emulator.stop());

/** The operations that change something. */
function writes(): string[] {
  return emulator.journal.operations().filter((operation) => /^(save|delete)/.test(operation));
}

/**
 * Runs the programs with mistakes inline in two stacks at once. Returns each result, and what is
 * in each stack in the end.
 */
async function upInline(mistakes: readonly string[]): Promise<{ results: Result[]; names: string[][] }> {
  const { exitCode, output } = await stack.exec("node", ["inline.js", ...mistakes]);
  if (exitCode !== 0) throw new Error(output);
  return JSON.parse(await readFile(path.join(stack.folder, "results.json"), "utf8"));
}

test("a refused inline program deletes and writes nothing, whether or not it is awaited, and with or without a target", async () => {
  const { results, names } = await upInline([...EARLY, ...LATE]);
  const [first, second, ...refused] = results;
  expect([first, second]).toMatchObject([{ failed: false }, { failed: false }]);
  expect(refused).toHaveLength(2 * (EARLY.length + LATE.length));
  for (const each of names) expect(each).toEqual(expect.arrayContaining(["one", "two", "template"]));
  for (const { stackName, mistake = "", failed, output } of refused) {
    const hasReason = output.includes(REASONS[mistake] ?? "-");
    const isQuiet = !/\n +at |unhandled/i.test(output) || mistake === "promise";
    expect({
      stackName,
      mistake,
      failed,
      hasReason,
      isQuiet,
      output: hasReason && isQuiet ? "" : output,
    }).toEqual({
      stackName,
      mistake,
      failed: true,
      hasReason: true,
      isQuiet: true,
      output: "",
    });
  }
  expect(writes().sort()).toEqual([...Array(4).fill("saveEndpoint"), "saveTemplate", "saveTemplate"]);
});

test("a refused program on the command line writes nothing, even without a preview and with --continue-on-error", async () => {
  await stack.up();
  emulator.journal.clear();
  const flags = ["up", "--yes", "--skip-preview"];
  for (const mistake of ["argument", "provider", "providerUrls", "output", "promise"]) {
    const more = mistake === "argument" ? ["--continue-on-error"] : [];
    const { exitCode, output } = await stack.run([...flags, ...more], { MISTAKE: mistake });
    expect({ mistake, failed: exitCode !== 0, output }).toEqual({
      mistake,
      failed: true,
      output: expect.stringContaining(REASONS[mistake] ?? "-"),
    });
  }
  expect(writes()).toEqual([]);
  const state = await stack.exportState();
  expect(endpointsIn(state)).toHaveLength(2);
  expect(JSON.stringify(state)).not.toContain("refus");
});
