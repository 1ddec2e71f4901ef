import { type Command, type Disturbance, type Edit, type Lying, plain, REQUIRED, type Step, VALUES } from "./actions";
import type { Api, Declared, Form, ResourceClass } from "./stack";

/** Returns numbers from 0 to below 1, always the same ones for a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const CLASSES = Object.keys(VALUES) as ResourceClass[];

/** The names of the lies that each API can tell. They are listed in `lies.ts`. */
const LIES: Readonly<Record<Api, readonly string[]>> = {
  graphql: ["type", "gpuIds", "counts", "env", "container", "place", "spelling", "old", "cut"],
  v2: ["type", "gpu", "timeout", "container", "place", "old", "cut"],
};

export interface Generator {
  readonly api: Api;
  readonly form: Form;
  readonly random: () => number;
  /** Resources made so far: names are never used again. */
  count: number;
}

const pick = <T>({ random }: Generator, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const chance = ({ random }: Generator, share: number) => random() < share;

/**
 * How many endpoints a sequence begins with. Most of a run's time is the start of the engine and of
 * its processes, so more resources show more in the same time.
 */
const ENDPOINTS = 4;

/** Returns the resources with which a sequence begins. */
export function firstProgram(generator: Generator): Declared[] {
  const others = [pick(generator, CLASSES), pick(generator, CLASSES)];
  return [...Array.from({ length: ENDPOINTS }, () => "ServerlessEndpoint" as const), ...others].map((is) =>
    fresh(generator, is),
  );
}

function fresh(generator: Generator, is: ResourceClass): Declared {
  generator.count += 1;
  const { args, ...resource } = plain(is, `r${generator.count}`);
  const more = Object.entries(VALUES[is]).filter(
    ([field]) => !REQUIRED[is].includes(field) && field !== "highPerformance" && chance(generator, 0.4),
  );
  const settings = Object.fromEntries(more.map(([field, values]) => [field, pick(generator, values)]));
  const roll = is === "ServerlessEndpoint" ? generator.random() : 1;
  if (roll < 0.15) return { ...resource, args: { ...args, ...settings, ...LOAD_BALANCED } };
  if (roll < 0.3) return { ...resource, args: onCpus({ ...args, ...settings }) };
  return { ...resource, args: { ...args, ...settings } };
}

const LOAD_BALANCED = { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 2 };

const onCpus = ({ gpuIds: _, gpuCount: __, ...others }: Declared["args"]) => ({
  ...others,
  instanceIds: ["cpu3g-4-16"],
});

/** Returns the next step of a program. */
export function nextStep(generator: Generator, program: readonly Declared[], last?: Step): Step {
  const machine = chance(generator, 0.2) ? "two" : "one";
  if (last?.disturbance && chance(generator, 0.5)) {
    // After something went wrong, users try again, or go back.
    const edit: Edit = pick(generator, [{ do: "nothing" }, { do: "nothing" }, { do: "revert" }] as const);
    const command = pick(generator, ["up", "up", "up --refresh", "refresh"] as const);
    return { edits: [edit], command, machine, isPreviewed: chance(generator, 0.5) };
  }
  const isQuietUp = chance(generator, 0.25);
  const disturbance = !isQuietUp && chance(generator, 0.5) ? nextDisturbance(generator) : undefined;
  const edits = [disturbance ? writingEdit(generator, program) : nextEdit(generator, program)];
  while (chance(generator, 0.5)) edits.push(nextEdit(generator, program));
  const roll = generator.random();
  const command: Command =
    roll < 0.45
      ? "up"
      : roll < 0.68
        ? "up --refresh"
        : roll < 0.78
          ? "refresh"
          : roll < 0.83
            ? "preview"
            : roll < 0.94
              ? "plan"
              : "destroy";
  const target =
    program.length > 0 && (command === "destroy" || chance(generator, 0.1)) ? pick(generator, program).name : undefined;
  const isPreview = command === "preview";
  return {
    edits,
    command: command === "destroy" && !target ? "up" : command,
    machine,
    target,
    isPreviewed: chance(generator, 0.3),
    disturbance: isPreview ? undefined : disturbance,
    lying: !isPreview && !isQuietUp && !disturbance ? nextLie(generator) : undefined,
  };
}

/**
 * Returns an edit that makes `up` write, because a disturbance of a run without a write disturbs
 * little.
 */
function writingEdit(generator: Generator, program: readonly Declared[]): Edit {
  const WRITING: readonly Edit["do"][] = ["set", "add", "unset", "remove", "revert", "take", "unadopt"];
  for (let tries = 0; tries < 5; tries += 1) {
    const edit = nextEdit(generator, program);
    if (WRITING.includes(edit.do)) return edit;
  }
  return nextEdit(generator, program);
}

function nextDisturbance(generator: Generator): Disturbance {
  const kind = pick(generator, [
    "lose",
    "lose",
    "drop",
    "kill",
    "kill",
    "killProvider",
    "interrupt",
    "console",
  ] as const);
  const ofWrites = chance(generator, 0.75);
  return {
    kind,
    ofWrites,
    nth: 1 + Math.floor(generator.random() ** 3 * (ofWrites ? 3 : 8)),
    isAfter: chance(generator, 0.6),
  };
}

function nextLie(generator: Generator): Lying {
  const lie = pick(generator, LIES[generator.api]);
  const at = pick(generator, ["all", "reads", "writes"] as const);
  return { lie, at, most: pick(generator, lie === "cut" ? [1] : lie === "old" ? [1, 2] : [1, 3, 1000]) };
}

function nextEdit(generator: Generator, program: readonly Declared[]): Edit {
  const roll = generator.random();
  if (roll < 0.06 || program.length === 0) return { do: "add", resource: fresh(generator, pick(generator, CLASSES)) };
  const { is, name, args, options = {} } = pick(generator, program);
  const field = pick(generator, Object.keys(VALUES[is]));
  const value = pick(generator, VALUES[is][field] ?? []);
  if (roll < 0.4) return { do: "set", name, field, value };
  if (roll < 0.46)
    return REQUIRED[is].includes(field) ? { do: "set", name, field, value } : { do: "unset", name, field };
  if (roll < 0.54)
    return { do: "option", name, option: "ignoreChanges", value: "ignoreChanges" in options ? undefined : [field] };
  if (roll < 0.57) return { do: "option", name, option: "protect", value: "protect" in options ? undefined : true };
  if (roll < 0.62) return { do: "remove", name };
  if (roll < 0.66) return { do: "revert" };
  if (roll < 0.71) return taken(generator);
  if (roll < 0.75) return "adoptId" in args ? { do: "unadopt", name } : { do: "nothing" };
  if (roll < 0.78) return { do: "rename", name, to: `r${++generator.count}` };
  if (roll < 0.95) return { do: "console", name, field, value };
  return { do: "nothing" };
}

function taken(generator: Generator): Edit {
  const is = pick(
    generator,
    generator.api === "v2" ? CLASSES.filter((each) => each !== "ContainerRegistryAuth") : CLASSES,
  );
  const by = generator.form === "plugin" && chance(generator, 0.4) ? "import" : "adoptId";
  return { do: "take", resource: fresh(generator, is), by };
}
