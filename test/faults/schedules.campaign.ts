import { type Emulator, startEmulator } from "../../emulator";
import type { PulumiStack } from "../pulumi/harness";
import { commit, countsAt, createRepository, type Declared, git, programOf, stepAt } from "../pulumi/ticking";
import { playMonth, QUARTER_MS, type Scheduled, scheduleOf } from "../pulumi/tickMonth";
import { API, API_ENV } from "./campaignApi";

/*
 * A month of ticks with endpoints of both forms. SCHEDULE_FROM, SCHEDULE_DAYS and SCHEDULE_SEED
 * choose the dates and the events.
 */

const DAYS = Number(process.env.SCHEDULE_DAYS ?? 31);
const SEED = Number(process.env.SCHEDULE_SEED ?? 0);

/** In March 2027, clocks change in New York on the 14th, and in Berlin on the 28th. */
const FROM = Date.parse(process.env.SCHEDULE_FROM ?? "2027-03-01");

interface Endpoint extends Scheduled {
  readonly form: "npm" | "plugin";
  /** `true` if the `up` that changes its image tests the release. */
  readonly isRolledOut?: boolean;
}

const ENDPOINTS: Record<string, Endpoint> = {
  berlin: {
    form: "npm",
    timeZone: "Europe/Berlin",
    own: [0, 3],
    isRolledOut: true,
    rules: [
      { at: { minute: [0], hour: [8], weekday: [1, 3, 5] }, min: 2, max: 8 },
      { at: { minute: [0], hour: [20], weekday: [1, 3, 5] }, min: 0 },
    ],
  },
  york: {
    form: "plugin",
    timeZone: "America/New_York",
    own: [0, 4],
    rules: [
      { at: { minute: [30], hour: [2], weekday: [0] }, min: 1, max: 2 },
      { at: { minute: [15], hour: [9], weekday: [2, 4] }, min: 3, max: 6 },
      { at: { minute: [45], hour: [17], weekday: [2, 4] }, min: 0, max: 0 },
    ],
  },
  adelaide: {
    form: "npm",
    timeZone: "Australia/Adelaide",
    own: [1, 5],
    rules: [
      { at: { minute: [0], hour: [7], weekday: [1] }, max: 9 },
      { at: { minute: [0], hour: [19], weekday: [5] }, max: 2 },
    ],
  },
  first: {
    form: "plugin",
    timeZone: "UTC",
    own: [0, 5],
    rules: [
      { at: { minute: [0], hour: [0], day: [1] }, min: 0 },
      { at: { minute: [0], hour: [12], day: [15] }, min: 4 },
    ],
  },
};

/** Returns the program with a release of the image. */
function program(release: number): string {
  const declared = Object.entries(ENDPOINTS).map(([name, endpoint]): Declared => {
    const { form, own, isRolledOut } = endpoint;
    const counts = `workersMin: ${own[0]}, workersMax: ${own[1]}, schedule: ${JSON.stringify(scheduleOf(endpoint))}`;
    if (!isRolledOut) return { name, form, args: counts };
    const rollOut = 'rollOut: { test: { input: { prompt: "2 + 2 =" }, expectedOutput: { text: "4" }, timeout: 600 } }';
    return { name, form, args: `${counts}, ${rollOut}`, imageName: `me/llama:${release}` };
  });
  return programOf(declared);
}

let emulator: Emulator;
let stack: PulumiStack;
/** Ends the test job of a release. */
let release = () => {};
let tested: Promise<void> | undefined;

beforeAll(async () => {
  const handler = async () => {
    tested = new Promise<void>((resolve) => {
      release = resolve;
    });
    await tested;
    return { text: "4" };
  };
  emulator = await startEmulator({
    profile: "observed",
    drainMs: 0,
    coldStartMs: 0,
    rateLimits: { management: "off", graphql: "off" },
    handlers: { default: handler },
  });
  stack = await createRepository(emulator, program(1), { ...API_ENV, SERVERLESS_GPU_SERVICE: "runpod" });
});
afterAll(async () => {
  release();
  await stack.dispose();
  await emulator.stop();
});

let releases = 1;

/** Rolls out a release before a rule begins to hold, and ends that when the rule already holds. */
async function rollOutAcross(instant: number): Promise<void> {
  const deployed = (await git(stack, "rev-parse", "HEAD")).trim();
  releases += 1;
  await stack.writeFile("index.js", program(releases));
  const merged = await commit(stack, `Release ${releases}`);
  tested = undefined;
  const before = countsAt(emulator);
  let ended: Awaited<ReturnType<typeof stepAt>> | undefined;
  const running = stepAt(stack, instant - QUARTER_MS, ["up"]).then((result) => {
    ended = result;
  });
  while (!tested && !ended) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ended?.output).toBeUndefined();
  // A CI runs one after the other. A tick beside the rollout changes nothing.
  await git(stack, "checkout", "--quiet", deployed);
  const beside = await stepAt(stack, instant, ["tick"]);
  expect(beside.exitCode).not.toBe(0);
  expect(countsAt(emulator)).toEqual(before);
  await git(stack, "checkout", "--quiet", merged);
  release();
  await running;
  expect(ended).toMatchObject({ exitCode: 0 });
  expect(countsAt(emulator)).toEqual(before);
  expect(await stepAt(stack, instant, ["tick"])).toMatchObject({ exitCode: 0 });
}

test(
  `${DAYS} days of ticks leave the service as planned after each quarter of an hour`,
  async () => {
    const further = { name: "rollout across a change of rule", times: 2, play: rollOutAcross };
    const month = { stack, emulator, api: API, endpoints: ENDPOINTS, from: FROM, days: DAYS, seed: SEED, further };
    const events = await playMonth(month);
    console.info(`${DAYS} days over ${API}, seed ${SEED}: ${JSON.stringify(events)}`);
    if (DAYS < 31) return;
    const all = [
      ...["tick", "tick that is not due", "two at once", "up at noon", "console edit", further.name],
      ...["missed for 1", "missed for 4", "missed for 96", "tick after a killed one"],
      ...["killed before a request", "killed after a request", "killed at each request"],
    ];
    expect(all.filter((each) => events[each] === undefined)).toEqual([]);
  },
  // A month takes about ten minutes on an idle machine.
  5 * 3_600_000,
);
