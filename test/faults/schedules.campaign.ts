import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import type { PulumiStack } from "../pulumi/harness";
import { killProcessesIn } from "../pulumi/processes";
import { countsAt, createRepository, type Declared, programOf, stepAt, updatesOf } from "../pulumi/ticking";
import { cronOf, firingMinutes, minutesOf, type Pattern } from "../sdk/endpoints/calendar";
import { API, API_ENV } from "./campaignApi";

/*
 * A month of ticks, one each 15 minutes of virtual time, in which ticks are missed, doubled and
 * killed, a person runs `up` at noon, and someone edits counts in the console. After each quarter
 * of an hour, the service is compared with the plan of a calendar that shares no code with ours. A
 * tick runs only where something is due, and at some other quarters, because it takes seconds.
 *
 * SCHEDULE_FROM, SCHEDULE_DAYS and SCHEDULE_SEED choose the dates and the events.
 */

const DAYS = Number(process.env.SCHEDULE_DAYS ?? 31);
const SEED = Number(process.env.SCHEDULE_SEED ?? 1);
const QUARTER_MS = 900_000;
const MINUTE_MS = 60_000;

/** In March 2027, clocks change in New York on the 14th, and in Berlin on the 28th. */
const FROM = Date.parse(process.env.SCHEDULE_FROM ?? "2027-03-01");

type Counts = readonly [workersMin: number, workersMax: number];

interface Scheduled {
  readonly form: "npm" | "plugin";
  readonly timeZone: string;
  readonly own: Counts;
  readonly rules: readonly { readonly at: Partial<Pattern>; readonly min?: number; readonly max?: number }[];
}

const WORKDAYS = [1, 2, 3, 4, 5];
const ENDPOINTS: Record<string, Scheduled> = {
  berlin: {
    form: "npm",
    timeZone: "Europe/Berlin",
    own: [0, 3],
    rules: [
      { at: { minute: [0], hour: [8], weekday: WORKDAYS }, min: 2, max: 8 },
      { at: { minute: [0], hour: [20], weekday: WORKDAYS }, min: 0 },
    ],
  },
  york: {
    form: "plugin",
    timeZone: "America/New_York",
    own: [0, 4],
    rules: [
      { at: { minute: [30], hour: [2], weekday: [0] }, min: 1, max: 2 },
      { at: { minute: [15], hour: [9], weekday: WORKDAYS }, min: 3, max: 6 },
      { at: { minute: [45], hour: [17], weekday: WORKDAYS }, min: 0, max: 0 },
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

const EVERY: Pattern = { minute: undefined, hour: undefined, day: undefined, month: undefined, weekday: undefined };

/** Returns the counts of the plan at an instant, by the calendar of the tests. */
function planOf({ timeZone, own, rules }: Scheduled): (instant: number) => Counts {
  const minutes = minutesOf(timeZone, FROM - 40 * 86_400_000, FROM + (DAYS + 1) * 86_400_000);
  const all = rules.flatMap((rule) => firingMinutes(minutes, { ...EVERY, ...rule.at }).map((at) => ({ at, rule })));
  all.sort((one, other) => one.at - other.at);
  return (instant) => {
    const last = all.filter(({ at }) => at * MINUTE_MS <= instant).at(-1);
    if (!last) throw new Error(`no rule in ${timeZone} has fired before ${new Date(instant).toISOString()}`);
    return [last.rule.min ?? own[0], last.rule.max ?? own[1]];
  };
}

const PLANS = Object.entries(ENDPOINTS).map(([name, endpoint]) => [name, planOf(endpoint)] as const);
const planAt = (instant: number) => Object.fromEntries(PLANS.map(([name, plan]) => [name, plan(instant)]));

function declared([name, { form, timeZone, own, rules }]: [string, Scheduled]): Declared {
  const schedule = {
    timeZone,
    rules: rules.map(({ at, min, max }) => ({ cron: cronOf({ ...EVERY, ...at }), workersMin: min, workersMax: max })),
  };
  return { name, form, args: `workersMin: ${own[0]}, workersMax: ${own[1]}, schedule: ${JSON.stringify(schedule)}` };
}

let state = SEED;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  stack = await createRepository(emulator, programOf(Object.entries(ENDPOINTS).map(declared)), API_ENV);
});
afterAll(async () => {
  await stack.dispose();
  await emulator.stop();
});

/** Ends a tick at one of its requests, before or after the request's effect. */
async function killedTick(instant: number): Promise<string> {
  const [position, when] = [random(8), (["before", "after"] as const)[random(2)] ?? "before"];
  const match = { interface: API };
  if (position > 0) emulator.faults.add({ match, effect: {}, times: position });
  emulator.faults.add({ match, effect: { hang: true, when } });
  let isOver = false;
  const running = stepAt(stack, instant, ["tick"]).finally(() => {
    isOver = true;
  });
  const held = () => emulator.journal.requests({ outcome: "pending" }).some(({ fault }) => fault?.includes("hang"));
  while (!isOver && !held()) await sleep(50);
  // An engine that is killed while it writes its own file leaves a cut one.
  await sleep(1000);
  await killProcessesIn(stack.scratch);
  await running;
  emulator.faults.clear();
  await stack.run(["cancel", "--yes", "--stack", "production"]);
  if (random(2) === 0) await rm(path.join(stack.scratch, "home/.cache"), { recursive: true, force: true });
  return `killed ${when} request ${position + 1}${isOver ? " (it had ended)" : ""}`;
}

test(
  `${DAYS} days of ticks leave the service as planned after each quarter of an hour`,
  async () => {
    expect(await stepAt(stack, FROM, ["up"])).toMatchObject({ exitCode: 0 });
    expect(countsAt(emulator)).toEqual(planAt(FROM));
    /** What state has, and what the service has. */
    let applied = planAt(FROM);
    let expected = planAt(FROM);
    let isInterrupted = false;
    let missedUntil = 0;
    const events: Record<string, number> = {};
    const count = (event: string) => {
      events[event] = (events[event] ?? 0) + 1;
    };
    /** A tick writes the counts that differ from state, and both if one alone does not fit. */
    const apply = (instant: number) => {
      const plan = planAt(instant);
      expected = Object.fromEntries(
        Object.entries(plan).map(([name, [min, max]]) => {
          const [was, now] = [applied[name] as Counts, expected[name] as Counts];
          const after: Counts = [min === was[0] ? now[0] : min, max === was[1] ? now[1] : max];
          const isWritten = min !== was[0] || max !== was[1];
          return [name, isInterrupted || (isWritten && after[0] > after[1]) ? ([min, max] as const) : after];
        }),
      );
      applied = plan;
      isInterrupted = false;
    };
    for (let instant = FROM + QUARTER_MS; instant < FROM + DAYS * 86_400_000; instant += QUARTER_MS) {
      const isDue = JSON.stringify(planAt(instant)) !== JSON.stringify(applied) || isInterrupted;
      const isEdited = JSON.stringify(expected) !== JSON.stringify(applied);
      const at = new Date(instant).toISOString();
      const event = random(10);
      if (instant < missedUntil) {
        if (isInterrupted) continue;
      } else if (isDue && event === 0) {
        const quarters = [1, 4, 96][random(3)] ?? 1;
        count(`missed for ${quarters}`);
        missedUntil = instant + quarters * QUARTER_MS;
        if (isInterrupted) continue;
      } else if (isDue && event === 1 && !isEdited && !isInterrupted) {
        count((await killedTick(instant)).replace(/ request.*/, ""));
        isInterrupted = true;
        continue;
      } else if (isDue && event === 2 && !isInterrupted) {
        count("two at once");
        const both = await Promise.all([1, 2].map(() => stepAt(stack, instant, ["tick"])));
        expect([at, both.map(({ exitCode, output }) => (exitCode === 0 ? 0 : output))]).toEqual([
          at,
          expect.arrayContaining([0]),
        ]);
        apply(instant);
      } else if (isDue || random(150) === 0) {
        count(isDue ? "due" : "idle");
        const updates = isDue ? 0 : await updatesOf(stack);
        const { exitCode, output } = await stepAt(stack, instant, ["tick"]);
        expect([at, exitCode, exitCode === 0 || output]).toEqual([at, 0, true]);
        if (!isDue) expect(await updatesOf(stack)).toBe(updates);
        apply(instant);
      } else if (instant % 86_400_000 === 43_200_000 && random(6) === 0) {
        count("up at noon");
        expect(await stepAt(stack, instant, ["up"])).toMatchObject({ exitCode: 0 });
        apply(instant);
      } else if (random(250) === 0) {
        count("console edit");
        const names = Object.keys(ENDPOINTS);
        const name = names[random(names.length)] as string;
        const [min, max] = expected[name] as Counts;
        // Switching an endpoint off is refused by design: tick.test.ts shows it.
        const workersMax = Math.max(min, 1) + random(3);
        if (max > 0) {
          const found = emulator.endpoints.list().find((each) => each.name.startsWith(`${name}-`));
          emulator.endpoints.change(found?.id ?? "", { workersMax });
          expected = { ...expected, [name]: [min, workersMax] };
        }
      }
      expect([at, countsAt(emulator)]).toEqual([at, expected]);
    }
    const idle = Object.values(events).reduce((sum, each) => sum + each, 0);
    console.info(`${DAYS} days over ${API}, seed ${SEED}: ${idle} events: ${JSON.stringify(events)}`);
  },
  // A month takes about half an hour on an idle machine.
  5 * 3_600_000,
);
