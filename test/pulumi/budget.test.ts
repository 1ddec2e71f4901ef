import { manualClock, startEmulator } from "../../emulator";
import { MAIN } from "../cli/command";
import { createPluginStack } from "./pluginStack";

/** Two lines of budget, in both forms, and programs with one mistake each. */
const PROGRAM = `
const gpu = require("pulumi-serverless-gpu");
const countFor = ({ amount }) => (amount < 10 ? 8 : amount < 20 ? 2 : 0);
const MISTAKES = {
  noAwait: () => countFor(gpu.getSpend({ from: gpu.monthStart() })),
  output: () => countFor(gpu.getSpendOutput()),
  notANumber: () => Number("many"),
  list: () => [8],
};
const rules = [{ cron: "0 0 * * *", workersMin: 0, workersMax: 1 }];
const schedule = process.env.SCHEDULED && { timeZone: "Europe/Berlin", rules };
const args = { gpuIds: ["AMPERE_16"], templateId: "template", ...(schedule && { schedule }) };
module.exports = async () => {
  const mistake = MISTAKES[process.env.MISTAKE];
  const declare = (dynamicMax, pluginMax) => {
    const minOf = (max) => Math.min(2, max || 0);
    new plugin.ServerlessEndpoint("two", { ...args, workersMin: minOf(pluginMax), workersMax: pluginMax });
    new gpu.ServerlessEndpoint("one", { ...args, workersMin: minOf(dynamicMax), workersMax: dynamicMax });
  };
  if (mistake) return declare(mistake(), mistake());
  const spent = await gpu.getSpend({ from: gpu.monthStart() });
  const same = await pulumi.runtime.invoke("serverless-gpu:index:getSpend", { groupBy: "endpoint" });
  const later = gpu.getSpendOutput({ groupBy: "endpoint" });
  declare(countFor(spent), countFor(same));
  return { amounts: [spent.amount, same.amount, later.amount], groups: later.groups };
};
`;

const HOUR_MS = 3_600_000;
const START = new Date("2026-11-10T08:00:00Z");

test("both forms lower the worker counts at the thresholds of a budget, and a count that is not a number changes nothing", async () => {
  const clock = manualClock(START.getTime());
  await using emulator = await startEmulator({ profile: "observed", clock, drainMs: 0, coldStartMs: 0 });
  // Deployments wait for workers, so time passes at its usual speed between the jumps.
  const passing = setInterval(() => void clock.advance(100), 100);
  const stack = await createPluginStack(PROGRAM, emulator.env);
  const run = (command: string[], more: Record<string, string> = {}) =>
    stack.run(command, { SERVERLESS_GPU_NOW: new Date(clock.now()).toISOString(), ...more });
  const up = (more: Record<string, string> = {}) => run(["up", "--yes", "--skip-preview"], more);
  const counts = () => emulator.endpoints.list().map(({ workersMin, workersMax }) => [workersMin, workersMax]);

  expect(await up()).toMatchObject({ exitCode: 0 });
  expect(counts()).toEqual([
    [2, 8],
    [2, 8],
  ]);
  await clock.advance(5 * HOUR_MS);
  const { stdout } = await run(["preview", "--json"]);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { message: string }[] };
  // One message may hold several lines of the program.
  const lines = diagnostics.flatMap(({ message }) => message.split("\n"));
  const line =
    /^getSpend: \$11\.[56]\d from 2026-11-01T00:00:00\.000Z \(newest bucket 2026-11-10T00:00:00\.000Z, 13 h old\)$/;
  expect([lines, lines.filter((each) => line.test(each)).length]).toEqual([lines, 3]);
  expect(await up()).toMatchObject({ exitCode: 0 });
  expect(counts()).toEqual([
    [2, 2],
    [2, 2],
  ]);
  const ids = emulator.endpoints.list().map(({ id }) => id);
  const { amounts, groups } = (await stack.outputs()) as { amounts: number[]; groups: { key: string }[] };
  expect(amounts.map((amount) => amount.toFixed(0))).toEqual(["12", "12", "12"]);
  expect(groups.map(({ key }) => key).sort()).toEqual(ids.sort());

  const said: Record<string, RegExp> = {
    noAwait: /getSpend returns a promise, which has no amount: write \(await getSpend\(…\)\)\.amount/,
    output: /amount of getSpendOutput is an output, not a number yet: use it within apply/,
    notANumber: /workersMax/,
    list: /workersMax/,
  };
  for (const [mistake, message] of Object.entries(said)) {
    const ended = await up({ MISTAKE: mistake });
    expect([mistake, ended.exitCode !== 0, message.test(ended.output)]).toEqual([mistake, true, true]);
    expect(counts()).toEqual([
      [2, 2],
      [2, 2],
    ]);
  }

  emulator.faults.add({ match: { operation: "myself" }, effect: { status: 403 } });
  expect((await up()).exitCode).not.toBe(0);
  emulator.faults.clear();
  expect(counts()).toEqual([
    [2, 2],
    [2, 2],
  ]);
  await clock.advance(5 * HOUR_MS);
  expect(await up()).toMatchObject({ exitCode: 0 });
  expect(counts()).toEqual([
    [0, 0],
    [0, 0],
  ]);

  expect(await up({ SCHEDULED: "yes" })).toMatchObject({ exitCode: 0 });
  const explained = await stack.exec(process.execPath, [MAIN, "explain", "--stack"], { env: emulator.env });
  const holds =
    /^ {2}schedule: 0 0 \* \* \* \(Europe\/Berlin\) holds since \S+ until \S+: workersMin 0, workersMax 1$/gm;
  expect(explained.stdout.match(holds)).toHaveLength(2);
  clearInterval(passing);
});
