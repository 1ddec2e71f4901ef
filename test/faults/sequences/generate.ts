import type {
  Action,
  ChangedField,
  Command,
  ConsoleEdit,
  Counts,
  Disturbance,
  Image,
  MachineIndex,
  Manner,
  Reference,
  Setup,
} from "./actions";
import type { ProviderName } from "./program";
import type { KeyName } from "./service";
import { entriesOf, type World } from "./world";

/** A source of numbers in [0, 1) that is the same for the same seed (mulberry32's mixing). */
export function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b9) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

const LOGICAL_NAMES = ["a", "b", "c", "d"];
/** The last one is the name of another owner's endpoint. */
const EXPLICIT_NAMES = ["llama", "whisper", "theirs"];

/** Weight of each action. */
const WEIGHTS = {
  declare: 14,
  rename: 12,
  dropAliases: 7,
  adopt: 14,
  dropAdoptId: 5,
  takeOut: 7,
  image: 9,
  goBack: 2,
  change: 8,
  drainTimeout: 4,
  replace: 7,
  createsFirst: 2,
  provider: 8,
  key: 8,
  copyProgram: 5,
  typo: 4,
  followAdvice: 0,
  up: 3,
  "up --refresh": 3,
  preview: 2,
  refresh: 10,
  destroy: 2,
  drift: 5,
  vanish: 3,
  switchOff: 2,
  job: 8,
  endJobs: 3,
};

type Kind = keyof typeof WEIGHTS;

/** Actions that need a stack with resources. */
const POINTLESS = [
  ...([
    "up",
    "up --refresh",
    "preview",
    "refresh",
    "destroy",
    "drift",
    "vanish",
    "switchOff",
    "job",
    "endJobs",
  ] as const),
] satisfies Kind[];

/**
 * Actions that a lagging list does not show immediately, and jobs that delay a deletion for long.
 */
const NOT_BEHIND = ["drift", "vanish", "switchOff", "job", "endJobs"] as const satisfies Kind[];

/** Returns the next action of a user. */
export async function nextAction(world: World, random: () => number): Promise<Action> {
  const on: MachineIndex = random() < 0.2 && world.machines[0].program.resources.length > 0 ? 1 : 0;
  const machine = world.machines[on];
  const names = machine.program.resources.map(({ name }) => name);
  const held = (await entriesOf(machine)).map(({ name }) => name);
  const weights = { ...WEIGHTS };
  if (names.length === 0) {
    weights.declare = 60;
    weights.copyProgram = on === 1 ? 40 : 0;
    if (held.length === 0) for (const kind of POINTLESS) weights[kind] = 0;
  }
  if (world.setup.lagMs) for (const kind of NOT_BEHIND) weights[kind] = 0;
  // The obvious next command after a deletion that failed is another one, or a plain up.
  if (machine.hasFailedDeletion)
    for (const kind of ["up", "preview", "destroy", "refresh"] as const) weights[kind] = 25;
  if (machine.refused?.output.includes("adoptId")) weights.followAdvice = 60;
  // People take back what a killed run was doing.
  if (machine.wasDisturbed) weights.goBack = 40;
  if (!hasImages(world.setup)) weights.image = 0;
  else if (machine.program.resources.some(({ args }) => args.imageName)) weights.image = 30;
  if (machine.key === "b1") weights.key = 40;
  if (names.length > 3) weights.takeOut = 30;
  const kind = weighted(weights, random);
  const action = make(kind, {
    on,
    names,
    held: await heldFor(kind, machine, held),
    random,
    isBehind: !!world.setup.lagMs,
    hasImages: hasImages(world.setup),
    own: world.own.length,
  });
  // A new endpoint is not tested.
  const isTested = (action.do === "image" || action.do === "adopt") && action.isTested === true;
  const disturb = isTested ? disturbanceOfTest(random, action, on) : disturbance(random, action);
  const extras = { ...(random() < 0.4 && { again: true }), ...(disturb && { disturb }) };
  const place = placeOf(world, machine.wasDisturbed, random);
  return "on" in action ? { ...action, ...extras, ...manner(action, [...names, ...held], random), ...place } : action;
}

/** Endpoints have images of their own at the observed service. */
const hasImages = ({ observed, lagMs, crowd }: Setup) => observed === true && !lagMs && !crowd;

/** Which API a run uses, on which computer. */
function placeOf({ setup: { apis, lagMs } }: World, wasDisturbed: boolean, random: () => number): Manner {
  const [isV2, isElsewhere] = [random() < 0.5, random() < (wasDisturbed ? 0.3 : 0.1)];
  return {
    ...((apis === "v2" || (apis === "both" && isV2)) && { api: "v2" }),
    ...(isElsewhere && !lagMs && { elsewhere: true }),
  };
}

/** Jobs that delay a deletion run only if it gives up soon. */
async function heldFor(
  kind: Kind,
  machine: World["machines"][number],
  held: readonly string[],
): Promise<readonly string[]> {
  if (kind !== "job") return held;
  const entries = await entriesOf(machine);
  return entries.filter(({ outputs }) => Number(outputs.drainTimeout) <= SHORT_DRAIN).map(({ name }) => name);
}

/** How the command is run. */
function manner(action: Action, names: readonly string[], random: () => number): Manner {
  const chance = random();
  if (action.do === "typo") return chance < 0.5 ? { inline: true } : {};
  if (action.do === "replace" || names.length === 0) return {};
  if (chance < 0.08) return { only: "name" in action && random() < 0.6 ? nameAfter(action) : pick(random, names) };
  if (chance < 0.12) return { except: pick(random, names) };
  const command = action.do === "key" ? action.run : action.do;
  const canContinue = command !== "preview" && command !== "refresh";
  if (chance < 0.22) return canContinue ? { continues: true } : {};
  if (chance < 0.34) return { planned: true };
  if (chance < 0.4) return { refreshes: true };
  return chance < 0.48 ? { inline: true } : {};
}

const nameAfter = (action: Action & { name: string }) => (action.do === "rename" ? action.to : action.name);

function weighted(weights: Readonly<Record<Kind, number>>, random: () => number): Kind {
  const kinds = Object.keys(weights) as Kind[];
  let left = random() * kinds.reduce((sum, kind) => sum + weights[kind], 0);
  for (const kind of kinds) {
    left -= weights[kind];
    if (left < 0) return kind;
  }
  return "up";
}

interface Choice {
  readonly on: MachineIndex;
  /** Declared in the program. */
  readonly names: readonly string[];
  /** In the state. */
  readonly held: readonly string[];
  readonly random: () => number;
  /** `true` if lists lag, so that deletions take longer. */
  readonly isBehind: boolean;
  readonly hasImages: boolean;
  /** Number of somebody else's endpoints with images of their own. */
  readonly own: number;
}

/** How long a deletion waits for a job before it gives up, in seconds. */
const SHORT_DRAIN = 5;

function make(kind: Kind, choice: Choice): Action {
  const { on, names, held, random, isBehind } = choice;
  const name = names.length > 0 ? pick(random, names) : "a";
  const free = LOGICAL_NAMES.filter((each) => !names.includes(each));
  const fresh = pick(random, free.length > 0 ? free : LOGICAL_NAMES);
  const of = held.length > 0 ? `${on}:${pick(random, held)}` : "foreign:0";
  const fieldOf = (): "workersMax" | "idleTimeout" => pick(random, ["workersMax", "idleTimeout"]);
  const value = 1 + Math.floor(random() * 9);
  switch (kind) {
    case "declare": {
      const as = random() < 0.4 ? { as: pick(random, EXPLICIT_NAMES) } : {};
      const provider = random() < 0.15 ? { provider: pick<ProviderName>(random, ["pa", "pb"]) } : {};
      const drainTimeout = !isBehind && random() < 0.5 ? { drainTimeout: SHORT_DRAIN } : {};
      const counts = pick<Counts>(random, ["max", "max", "min", "both", "none", "none"]);
      return { do: kind, on, name: fresh, ...as, ...provider, counts, ...drainTimeout, ...imageOf(choice, 0.45) };
    }
    case "rename":
      return { do: kind, on, name, to: fresh, alias: random() < 0.5 };
    case "image":
      return { do: kind, on, name, image: pick<Image>(random, IMAGES), isTested: random() < 0.75 };
    case "adopt": {
      if (choice.own > 0 && random() < 0.4) {
        const counts = random() < 0.5 ? { workersMax: 1 + value } : {};
        return { do: kind, on, name: fresh, of: `own:${random() < 0.8 ? 0 : 1}`, ...imageOf(choice, 0.8), ...counts };
      }
      const theirs = random() < 0.4 ? `foreign:${random() < 0.7 ? 0 : 1}` : of;
      return { do: kind, on, name: random() < 0.75 ? fresh : name, of: theirs };
    }
    case "dropAliases":
    case "dropAdoptId":
    case "takeOut":
    case "typo":
      return { do: kind, on, name };
    case "change":
      return { do: kind, on, name, field: fieldOf(), value };
    case "drainTimeout":
      return {
        do: "change",
        on,
        name,
        field: "drainTimeout" satisfies ChangedField,
        value: isBehind ? 100 + value : SHORT_DRAIN,
      };
    case "replace":
      return { do: kind, on, name, flag: random() < 0.7 ? "--replace" : "--target-replace" };
    case "createsFirst":
      return { do: kind, on, value: random() < 0.7 };
    case "provider":
      return { do: kind, on, name, to: pick<ProviderName | null>(random, ["pa", "pb", "pb", "px", null, null]) };
    case "key": {
      const commands: readonly Command[] = ["up", "up", "up --refresh", "preview", "refresh", "destroy"];
      return { do: kind, on, key: pick<KeyName>(random, ["a1", "a1", "a2", "b1"]), run: pick(random, commands) };
    }
    case "goBack":
    case "copyProgram":
      return { do: kind, on };
    case "followAdvice":
      return { do: kind, on, how: random() < 0.6 ? "adoptId" : "aliases" };
    case "drift":
      return { do: kind, ...consoleEdit(choice, random() < 0.15 ? "own:0" : of) };
    case "vanish":
    case "switchOff":
    case "job":
      return { do: kind, of };
    case "endJobs":
      return { do: kind };
    default:
      return { do: kind, on };
  }
}

const IMAGES: readonly Image[] = ["good", "2-good", "3-good", "wrong"];

/** Returns the arguments of an endpoint with an image of its own, with this probability. */
function imageOf({ hasImages, random }: Choice, probability: number): { image?: Image; isTested?: boolean } {
  if (!hasImages || random() > probability) return {};
  return { image: pick(random, IMAGES), isTested: random() < 0.75 };
}

/** Returns what somebody changes in the console. Each value is one that no program sets. */
function consoleEdit({ hasImages, random }: Pick<Choice, "hasImages" | "random">, of: Reference): ConsoleEdit {
  const number = 10 + Math.floor(random() * 9);
  const images = hasImages ? (["imageName"] as const) : [];
  const field = pick<ConsoleEdit["field"]>(random, ["workersMax", "idleTimeout", "name", ...images]);
  if (field === "name") return { of, field, value: `renamed-${number}` };
  return { of, field, value: field === "imageName" ? `me/console:${number}` : number };
}

/** Kills a run or edits its endpoint while it judges a release. */
function disturbanceOfTest(random: () => number, action: Action, on: MachineIndex): Disturbance | undefined {
  const chance = random();
  if (chance < 0.3) return disturbance(random, action);
  const operation = pick(random, ["saveEndpoint", "saveEndpoint", "workers", "run", "run"] as const);
  const nth = operation === "run" ? 1 : 1 + Math.floor(random() * 3);
  if (chance < 0.85) return { kind: "kill", nth, operation, when: random() < 0.5 ? "before" : "after" };
  const of = action.do === "adopt" ? action.of : "name" in action ? `${on}:${action.name}` : "own:0";
  const edit: ConsoleEdit = { of, field: "imageName", value: `me/console:${10 + Math.floor(random() * 9)}` };
  return { kind: "edit", nth: 1, operation: "run", edit };
}

const DELETIONS: readonly Kind[] = ["takeOut", "destroy", "replace", "rename"];

function disturbance(random: () => number, action: Action): Disturbance | undefined {
  if (random() > 0.25) return undefined;
  const deletes = DELETIONS.some((kind) => kind === action.do) ? 0.6 : 0.05;
  const operation = random() < deletes ? "deleteEndpoint" : "saveEndpoint";
  const kind = random();
  if (kind < 0.12) return { kind: "refuse", nth: 1, operation };
  if (kind < 0.35) return { kind: "lose", nth: 1, operation };
  const when = random() < 0.4 ? "before" : "after";
  if (random() < 0.3) return { kind: "kill", nth: 1 + Math.floor(random() * 5), when };
  return { kind: "kill", nth: 1, operation, when };
}
