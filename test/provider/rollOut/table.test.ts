import { type Remembered, refresh, StepFailed, up } from "../../faults/engineMemory";
import { IS_EVERYWHERE } from "../../support/everywhere";
import { editImage, failedUp, killAt, type Run, start } from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider } from "../../support/rollOuts";

/*
 * A release that fails its test, and what comes after it: each event, followed by each program, on
 * each machine, over each API.
 */

/** What is in service, by the ends of the images' names. */
type Image = "good" | "wrong" | "theirs" | "3-good";

/** How the run of the release ended. Returns the state after it. */
type Event = (run: Run, save: string) => Promise<Remembered>;

const killed =
  (operation: string | undefined, nth: number, when: "before" | "after"): Event =>
  async ({ emulator, provider, first }, save) => {
    await killAt(emulator, provider, ["", operation ?? save, nth, when], first);
    return first;
  };

const failed =
  (rejected?: number): Event =>
  async ({ emulator, provider, first }, operation) => {
    if (rejected) emulator.faults.add({ match: { operation, nth: rejected }, effect: { status: 400 } });
    const { remembered } = await failedUp(provider, programOf("wrong"), first);
    emulator.faults.clear();
    return remembered as Remembered;
  };

/** What is in service after the event, and whether this machine then has a note of it. */
const EVENTS: Readonly<Record<string, readonly [Event, Image, isNoted: boolean]>> = {
  "was killed before the save": [killed(undefined, 1, "before"), "good", true],
  "was killed after the save": [killed(undefined, 1, "after"), "wrong", true],
  "was killed while the workers were awaited": [killed("health", 1, "after"), "wrong", true],
  "was killed while its test ran": [killed("run", 1, "after"), "wrong", true],
  "was killed before the restore": [killed(undefined, 2, "before"), "wrong", true],
  "was killed after the restore": [killed(undefined, 2, "after"), "good", true],
  "was killed, and the console then set another image": [
    async (run, save) => {
      const state = await killed(undefined, 1, "after")(run, save);
      await editImage(run, "me/llama-theirs");
      return state;
    },
    "theirs",
    true,
  ],
  "failed and was restored": [failed(), "good", false],
  "failed, and its restore was rejected": [failed(2), "wrong", true],
  "could not be tested": [
    async ({ emulator, provider, first }) => {
      emulator.faults.add({ match: { operation: "run" }, effect: { status: 401 } });
      const { message, remembered } = await failedUp(provider, programOf("wrong"), first);
      expect(message).toContain("could not be tested");
      emulator.faults.clear();
      return remembered as Remembered;
    },
    "wrong",
    true,
  ],
};

/**
 * The kills that leave the same as one after the save, and that only the machine of the run must
 * tell apart.
 */
const KILLED_LATER = [
  "was killed while the workers were awaited",
  "was killed while its test ran",
  "was killed before the restore",
];

const MACHINES = [
  "this machine",
  "this machine, after a refresh",
  "another machine",
  "another machine, after a refresh",
];

const RESTORED = "The previous settings were saved again";
const UNKNOWN = "this run does not know the previous settings";

/** Returns what the next `up` leaves in service, and the end of its message. */
function expected(after: Image, isNoted: boolean, isRecorded: boolean, program: string, machine: string) {
  const isRefreshed = machine.endsWith("refresh");
  if (program === "third") return ["3-good", ""];
  // Only a note or a refresh shows another machine's unfinished release.
  const isSeen = isRefreshed || isRecorded || (isNoted && machine === "this machine");
  if (program === "previous") return [isSeen ? "good" : after, ""];
  const isKnown = machine.startsWith("this") ? isNoted || !isRecorded : !isRecorded && !isRefreshed;
  if (after !== "wrong") return [after, RESTORED];
  return isKnown ? ["good", RESTORED] : ["wrong", UNKNOWN];
}

const PROGRAMS = { same: "wrong", previous: "good", third: "3-good" } as const;

/** Plays a cell of the table, and returns what is in service and the end of the message. */
async function play(api: string, event: Event, machine: string, program: keyof typeof PROGRAMS) {
  await using run = await start(api);
  const { emulator, first } = run;
  let state = await event(run, api === "v2" ? "updateEndpoint" : "saveTemplate");
  const served = serving(emulator).image;
  const isRecorded = state !== first;
  await run.provider.stop();
  await using next = await startProvider(emulator, machine.startsWith("this") ? run.machine : newMachine(), api);
  if (machine.endsWith("refresh")) state = { ...((await refresh(next, state)) as Remembered), inputs: first.inputs };
  const ended = await up(next, programOf(PROGRAMS[program]), state).catch((error: unknown) => error);
  const { image, saves } = serving(emulator);
  if (ended instanceof StepFailed) {
    const message = [RESTORED, UNKNOWN].find((each) => ended.message.includes(each));
    // State names the restored release, unless that is what it named before.
    const isRestored = message === RESTORED && String(state.outputs.imageName).endsWith("wrong");
    const remembered = isRestored
      ? expect.objectContaining({ outputs: expect.objectContaining({ imageName: image }) })
      : state;
    expect([program, ended.remembered]).toEqual([program, remembered]);
    expect(ended.message).toContain("output.text is not as expected");
    return { served, isRecorded, got: [image, message ?? ended.message] };
  }
  const { id, outputs, inputs } = ended as Remembered;
  expect([program, await next.diff(id, outputs, inputs)]).toEqual([
    program,
    expect.objectContaining({ changes: "none" }),
  ]);
  expect([program, serving(emulator)]).toEqual([program, expect.objectContaining({ image, saves })]);
  return { served, isRecorded, got: [image, ""] };
}

const ALL = ["v2", "graphql"].flatMap((api) =>
  Object.keys(EVENTS).flatMap((name) => {
    const machines = KILLED_LATER.includes(name) ? MACHINES.slice(0, 1) : MACHINES;
    return machines.map((machine) => ({ api, name, machine }));
  }),
);
const ALL_PROGRAMS = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];

/**
 * `npm run test:everywhere` plays each cell with each program over both APIs. Other runs play each
 * pair of an event with a machine, a program or an API, and each pair of a machine and a program.
 */
function programsIn({ api, name }: (typeof ALL)[number], index: number) {
  if (IS_EVERYWHERE) return ALL_PROGRAMS;
  const at = index % (ALL.length / 2);
  if (at % 2 !== (api === "v2" ? 0 : 1)) return [];
  // A kill that is played on one machine only has each program.
  return ALL_PROGRAMS.filter((_, program) => KILLED_LATER.includes(name) || program === at % 3);
}
const CELLS = ALL.map((cell, index) => ({ ...cell, programs: programsIn(cell, index) })).filter(
  ({ programs }) => programs.length > 0,
);

test.each(
  CELLS,
)("over $api, after a release that $name, the next up on $machine leaves in service what the rules say, for the programs $programs", async ({
  api,
  name,
  machine,
  programs,
}) => {
  const [event, after, isNoted] = EVENTS[name] as (typeof EVENTS)[string];
  const cells = await Promise.all(
    programs.map(async (program) => ({ program, ...(await play(api, event, machine, program)) })),
  );
  expect(cells.map(({ served }) => served)).toEqual(programs.map(() => `me/llama-${after}`));
  expect(cells.map(({ program, got }) => [program, ...got])).toEqual(
    cells.map(({ program, isRecorded }) => {
      const [image, message] = expected(after, isNoted, isRecorded, program, machine);
      return [program, `me/llama-${image}`, message];
    }),
  );
}, 120_000);

test("each pair of an event, a machine, a program and an API is played", () => {
  const pairs = (cells: typeof CELLS) =>
    cells.flatMap(({ api, name, machine, programs }) => [
      `${name}, ${machine}`,
      ...programs.flatMap((program) => [`${name}, ${program}`, `${machine}, ${program}`, `${api}, ${program}`]),
      ...(KILLED_LATER.includes(name) ? [] : [`${name}, ${api}`]),
      `${machine}, ${api}`,
    ]);
  const all = pairs(ALL.map((cell) => ({ ...cell, programs: ALL_PROGRAMS })));
  expect(new Set(pairs(CELLS))).toEqual(new Set(all));
});
