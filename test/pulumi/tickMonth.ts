import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Emulator } from "../../emulator";
import type { ManagementApi } from "../../sdk";
import { cronOf, firingMinutes, minutesOf, type Pattern } from "../sdk/endpoints/calendar";
import type { PulumiStack } from "./harness";
import { killProcessesIn } from "./processes";
import { countsAt, stepAt, updatesOf } from "./ticking";

/*
 * Days of ticks, one each 15 minutes of virtual time, in which ticks are missed, doubled and killed
 * at each of their requests, a person runs `up` at noon, and someone edits counts in the console.
 * After each quarter of an hour, the service is compared with the plan of a calendar that shares no
 * code with ours. A tick runs only where something is due, and at some other quarters, because it
 * takes seconds.
 */

export const QUARTER_MS = 900_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

type Counts = readonly [workersMin: number, workersMax: number];
type AllCounts = Readonly<Record<string, Counts>>;

/** An endpoint's schedule, and its own counts. */
export interface Scheduled {
  readonly timeZone: string;
  readonly own: Counts;
  readonly rules: readonly { readonly at: Partial<Pattern>; readonly min?: number; readonly max?: number }[];
}

const EVERY: Pattern = { minute: undefined, hour: undefined, day: undefined, month: undefined, weekday: undefined };

/** Returns the argument `schedule`. */
export function scheduleOf({ timeZone, rules }: Scheduled) {
  const all = rules.map(({ at, min, max }) => ({
    cron: cronOf({ ...EVERY, ...at }),
    workersMin: min,
    workersMax: max,
  }));
  return { timeZone, rules: all };
}

/** Something that happens instead of a tick when a rule begins to hold, such as a rollout. */
interface Further {
  readonly name: string;
  /** How often it happens. */
  readonly times: number;
  /** Leaves the counts of the rules that hold. */
  play(instant: number): Promise<void>;
}

/** What is played. */
export interface Month {
  readonly stack: PulumiStack;
  readonly emulator: Emulator;
  readonly api: ManagementApi;
  readonly endpoints: Readonly<Record<string, Scheduled>>;
  readonly from: number;
  readonly days: number;
  readonly seed: number;
  readonly further?: Further;
}

/** Returns the counts of the plan at an instant, by the calendar of the tests. */
function planOf({ endpoints, from, days }: Month): (instant: number) => AllCounts {
  const plans = Object.entries(endpoints).map(([name, { timeZone, own, rules }]) => {
    const minutes = minutesOf(timeZone, from - 40 * DAY_MS, from + (days + 1) * DAY_MS);
    const all = rules.flatMap((rule) => firingMinutes(minutes, { ...EVERY, ...rule.at }).map((at) => ({ at, rule })));
    all.sort((one, other) => one.at - other.at);
    return (instant: number): readonly [string, Counts] => {
      const last = all.findLast(({ at }) => at * MINUTE_MS <= instant)?.rule;
      if (!last) throw new Error(`no rule in ${timeZone} has fired before ${new Date(instant).toISOString()}`);
      return [name, [last.min ?? own[0], last.max ?? own[1]]];
    };
  });
  return (instant) => Object.fromEntries(plans.map((plan) => plan(instant)));
}

const isSame = (one: AllCounts, other: AllCounts) => JSON.stringify(one) === JSON.stringify(other);

/** What happens when a tick is due, in turn. */
const WHEN_DUE = ["kill", "further", "tick", "kill", "two at once", "kill", "miss", "kill"] as const;
/** For how many quarters of an hour ticks are missed, in turn. */
const MISSED = [1, 4, 96];

/**
 * Plays the days. Returns how often each event happened.
 * @throws if the service differs from the plan
 */
export async function playMonth(month: Month): Promise<Record<string, number>> {
  const { stack, emulator, from, days } = month;
  expect(await stepAt(stack, from, ["up"])).toMatchObject({ exitCode: 0 });
  const played = new PlayedMonth(month, planOf(month));
  for (let instant = from; instant < from + days * DAY_MS; instant += QUARTER_MS) {
    if (instant > from) await played.pass(instant);
    const now = countsAt(emulator) as AllCounts;
    const at = new Date(instant).toISOString();
    expect([at, Object.entries(now).filter(([name, counts]) => !played.isPossible(name, counts))]).toEqual([at, []]);
    expect(Object.keys(now).sort()).toEqual(Object.keys(month.endpoints).sort());
  }
  return played.events;
}

class PlayedMonth {
  readonly events: Record<string, number> = {};
  /** The counts that the state has. */
  #applied: AllCounts;
  /** The counts that the service must have. */
  #expected: AllCounts;
  /** What a killed tick may have written. */
  #interrupted: AllCounts | undefined;
  #missedUntil = 0;
  #dues = 0;
  #misses = 0;
  /** The next request at which a tick is killed; `undefined` once all of them were. */
  #kill: { readonly position: number; readonly when: "before" | "after" } | undefined = { position: 0, when: "before" };
  #random: number;

  constructor(
    readonly month: Month,
    readonly planAt: (instant: number) => AllCounts,
  ) {
    this.#applied = planAt(month.from);
    this.#expected = this.#applied;
    this.#random = month.seed;
  }

  /** Returns `true` if an endpoint may have these counts at the service. */
  isPossible(name: string, counts: Counts): boolean {
    return [this.#expected[name], this.#interrupted?.[name]].some((each) => each?.join() === counts.join());
  }

  /** Lets a quarter of an hour begin. */
  async pass(instant: number): Promise<void> {
    const isDue = !isSame(this.planAt(instant), this.#applied) || this.#interrupted !== undefined;
    if (instant < this.#missedUntil) return;
    if (isDue) await this.#due(instant);
    else if (this.#below(250) === 0) await this.#idle(instant);
    else if (instant % DAY_MS === DAY_MS / 2 && this.#below(5) === 0) await this.#upAtNoon(instant);
    else if (this.#below(200) === 0) this.#edit();
  }

  async #due(instant: number): Promise<void> {
    // A tick after a killed one reads the service first.
    if (this.#interrupted) return this.#tick(instant, "tick after a killed one");
    const event = WHEN_DUE[(this.month.seed + this.#dues++) % WHEN_DUE.length];
    const { further } = this.month;
    const isEdited = !isSame(this.#expected, this.#applied);
    if (event === "miss") return this.#miss(instant);
    if (event === "two at once") return this.#twoAtOnce(instant);
    if (event === "kill" && this.#kill && !isEdited) return this.#killed(instant, this.#kill);
    const isLeft = further && (this.events[further.name] ?? 0) < further.times;
    if (event !== "further" || !isLeft || isEdited) return this.#tick(instant, "tick");
    this.#count(further.name);
    await further.play(instant);
    this.#apply(instant);
  }

  async #tick(instant: number, name: string): Promise<void> {
    this.#count(name);
    const { exitCode, output } = await stepAt(this.month.stack, instant, ["tick"]);
    expect([new Date(instant), exitCode, exitCode === 0 || output]).toEqual([new Date(instant), 0, true]);
    this.#apply(instant);
  }

  async #idle(instant: number): Promise<void> {
    const updates = await updatesOf(this.month.stack);
    await this.#tick(instant, "tick that is not due");
    expect(await updatesOf(this.month.stack)).toBe(updates);
  }

  #miss(instant: number): void {
    const quarters = MISSED[this.#misses++ % MISSED.length] ?? 1;
    this.#count(`missed for ${quarters}`);
    this.#missedUntil = instant + quarters * QUARTER_MS;
  }

  async #twoAtOnce(instant: number): Promise<void> {
    this.#count("two at once");
    const both = await Promise.all([1, 2].map(() => stepAt(this.month.stack, instant, ["tick"])));
    const ends = both.map(({ exitCode, output }) => (exitCode === 0 ? 0 : output));
    expect([new Date(instant), ends]).toEqual([new Date(instant), expect.arrayContaining([0])]);
    this.#apply(instant);
  }

  async #upAtNoon(instant: number): Promise<void> {
    this.#count("up at noon");
    expect(await stepAt(this.month.stack, instant, ["up"])).toMatchObject({ exitCode: 0 });
    this.#apply(instant);
  }

  /** Changes workersMax at the service. Tick.test.ts shows an endpoint that is switched off. */
  #edit(): void {
    const { emulator, endpoints } = this.month;
    const names = Object.keys(endpoints);
    const name = names[this.#below(names.length)] as string;
    const [min, max] = this.#expected[name] as Counts;
    const workersMax = Math.max(min, 1) + this.#below(3);
    if (max === 0 || workersMax === max) return;
    this.#count("console edit");
    const found = emulator.endpoints.list().find((each) => each.name.startsWith(`${name}-`));
    emulator.endpoints.change(found?.id ?? "", { workersMax });
    this.#expected = { ...this.#expected, [name]: [min, workersMax] };
  }

  /** Ends a tick at one of its requests, before or after the request's effect. */
  async #killed(instant: number, { position, when }: { position: number; when: "before" | "after" }): Promise<void> {
    const { stack, emulator, api } = this.month;
    const match = { interface: api };
    if (position > 0) emulator.faults.add({ match, effect: {}, times: position });
    emulator.faults.add({ match, effect: { hang: true, when } });
    let exitCode: number | null | undefined;
    const running = stepAt(stack, instant, ["tick"]).then((result) => {
      exitCode = result.exitCode;
    });
    const held = () => emulator.journal.requests({ outcome: "pending" }).some(({ fault }) => fault?.includes("hang"));
    while (exitCode === undefined && !held()) await sleep(50);
    if (exitCode !== undefined) {
      // The tick before has the last of the requests.
      emulator.faults.clear();
      expect([instant, exitCode]).toEqual([instant, 0]);
      this.#count("killed at each request");
      this.#kill = undefined;
      this.#apply(instant);
      return;
    }
    // An engine that is killed while it writes its own file leaves a cut one.
    await sleep(1000);
    await killProcessesIn(stack.scratch);
    await running;
    emulator.faults.clear();
    await stack.run(["cancel", "--yes", "--stack", "production"]);
    if (this.#below(2) === 0) await rm(path.join(stack.scratch, "home/.cache"), { recursive: true, force: true });
    this.#count(`killed ${when} a request`);
    this.#interrupted = this.planAt(instant);
    // The next rule may then be the one that the state contains.
    if (when === "after") this.#miss(instant);
    this.#kill = when === "before" ? { position, when: "after" } : { position: position + 1, when: "before" };
  }

  /** A tick writes the counts that differ from state, and both if one alone does not fit. */
  #apply(instant: number): void {
    const plan = this.planAt(instant);
    this.#expected = Object.fromEntries(
      Object.entries(plan).map(([name, [min, max]]) => {
        const [was, now] = [this.#applied[name] as Counts, this.#expected[name] as Counts];
        const after: Counts = [min === was[0] ? now[0] : min, max === was[1] ? now[1] : max];
        const isWritten = min !== was[0] || max !== was[1];
        return [name, this.#interrupted || (isWritten && after[0] > after[1]) ? ([min, max] as const) : after];
      }),
    );
    this.#applied = plan;
    this.#interrupted = undefined;
  }

  #count(event: string): void {
    this.events[event] = (this.events[event] ?? 0) + 1;
  }

  #below(limit: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * limit);
  }
}
