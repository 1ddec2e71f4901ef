import { setTimeout as sleep } from "node:timers/promises";
import type { Disturbance, Lying, Step } from "./actions";
import { apply, stateOf, type World } from "./edits";
import type { Kind } from "./held";
import { liar } from "./lies";
import { differences, type Edited, type InState, judge, type Problem, type Shown } from "./oracle";
import {
  type Api,
  createRulesStack,
  DESTROY,
  type Declared,
  type Form,
  REFRESH,
  signal,
  UP,
  UP_REFRESH,
} from "./stack";
import { type Meddler, type Request, startStandIn } from "./standIn";

/** Starts a service, and a stack with this program. */
export async function createWorld(
  { form, api }: { form: Form; api: Api },
  program: readonly Declared[],
): Promise<World> {
  const standIn = await startStandIn();
  const stack = await createRulesStack(standIn, { form, api });
  return {
    standIn,
    stack,
    api,
    program: [...program],
    earlier: [],
    good: [...program],
    said: "",
    deletedOn: new Map(),
    previous: new Map(),
    foreign: new Set(),
  };
}

const other = (machine: Step["machine"]) => (machine === "one" ? "two" : "one");

function both(one: Shown, other: Shown): Shown {
  const fields = new Map(one.fields);
  for (const [name, more] of other.fields) fields.set(name, new Set([...(fields.get(name) ?? []), ...more]));
  return { fields, text: `${one.text}\n${other.text}` };
}

/** The result of a step. */
export interface Played {
  readonly step: Step;
  readonly exitCode: number | null;
  readonly output: string;
  readonly seconds: number;
  readonly resources: number;
  readonly writes: number;
  readonly wasDisturbed: boolean;
  readonly problems: readonly Problem[];
}

/** Plays a step, and judges it. */
export async function play(world: World, step: Step): Promise<Played> {
  const { stack, standIn } = world;
  await apply(world, step.edits);
  await stack.declare(world.program);
  const resources = world.program.length;
  const begun = performance.now();
  const before = await stateOf(world);
  const record = (kind: Kind, id: string) => standIn.account.settings(kind, id);
  const isUp = step.command === "up" || step.command === "up --refresh" || step.command === "plan";
  const flags = step.target ? ["--target", `**::${step.target}`] : [];
  const options = { machine: step.machine };
  let shown = calculated(world, before, step.command === "up --refresh");
  let planned: string | undefined;
  const lying = step.lying && liarOf(step.lying);
  standIn.begin(lying);
  if (isUp && (step.isPreviewed || step.command === "plan")) {
    const more = [
      ...(step.command === "up --refresh" ? ["--refresh"] : []),
      ...(step.command === "plan" ? ["--save-plan", "plan.json"] : []),
    ];
    const preview = await stack.run(["preview", "--json", "--diff", ...more, ...flags], options);
    // A preview that fails ends before it has shown everything.
    const seen = preview.exitCode === 0 ? read(preview.stdout, preview.stderr) : undefined;
    // The refresh of the run itself may see what the service has hidden from the preview.
    shown = seen && lying && step.command === "up --refresh" ? both(seen, shown) : (seen ?? shown);
    if (step.command === "plan" && preview.exitCode !== 0) planned = preview.output;
  }
  const disturbed = step.disturbance && disturberOf(world, step.disturbance);
  const meddler: Meddler = { ...lying, ...disturbed?.meddler };
  standIn.begin(meddler);
  const from = standIn.writes.length;
  const result =
    planned === undefined
      ? await stack.run([...argumentsOf(step), ...flags], options)
      : { exitCode: 1, output: planned };
  if (disturbed?.isSprung()) {
    await sleep(50);
    if (step.disturbance?.kind !== "console") await stack.run(["cancel", "--yes"]);
  }
  const isSprung = disturbed?.isSprung() ?? false;
  standIn.begin();
  const writes = standIn.writes.slice(from);
  const after = await stateOf(world);
  const problems = judge({
    form: stack.form,
    api: world.api,
    command: step.command,
    target: step.target,
    program: world.program,
    shown,
    output: result.output,
    exitCode: result.exitCode,
    wasDisturbed: isSprung,
    before,
    after,
    writes,
    exists: (kind, id) => record(kind, id) !== undefined,
    isForgiven: (id) => ["two", other(step.machine)].includes(world.deletedOn.get(id) ?? ""),
    previous: (id) => world.previous.get(id) ?? [],
    edited: disturbed?.edited(),
  });
  for (const { id = "", before: was, write } of writes) {
    if (was && isSprung) world.previous.set(id, [...(world.previous.get(id) ?? []), was].slice(-6));
    if (write === "delete") world.deletedOn.set(id, step.machine);
  }
  world.said += result.output;
  // A program that is refused without a reason of the service is put right.
  if (isUp && result.exitCode === 0 && !step.target) world.good = world.program;
  if (isUp && result.exitCode !== 0 && !isSprung && !step.lying) world.program = world.good;
  return {
    step,
    exitCode: result.exitCode,
    output: result.output,
    seconds: (performance.now() - begun) / 1000,
    resources,
    writes: writes.length,
    wasDisturbed: isSprung,
    problems,
  };
}

function argumentsOf({ command }: Step): readonly string[] {
  if (command === "plan") return [...UP, "--plan", "plan.json"];
  return { up: UP, "up --refresh": UP_REFRESH, refresh: REFRESH, preview: ["preview"], destroy: DESTROY }[command];
}

/** What a preview shows: the program differs from the state, or from what a refresh reads. */
function calculated({ program, standIn }: World, before: readonly InState[], isRefreshed: boolean): Shown {
  const fields = new Map<string, Set<string>>();
  for (const { name, args, options = {} } of program) {
    const own = before.find((each) => each.name === name);
    if (!own) continue;
    const ignored = (options.ignoreChanges ?? []) as readonly string[];
    const held = isRefreshed ? (standIn.account.settings(own.kind, own.id) ?? {}) : {};
    const changed = [...new Set([...Object.keys(args), ...Object.keys(own.inputs)])].filter((field) => {
      if (ignored.includes(field) || field.startsWith("__")) return false;
      const drifted = isRefreshed && field in held && differs(held[field], args[field]);
      return differs(own.inputs[field], args[field]) || drifted;
    });
    const keys = changed.flatMap((field) => (field === "env" ? keysOf(own.inputs.env, args.env, held.env) : [field]));
    fields.set(name, new Set(keys));
  }
  return { fields, text: "" };
}

const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);

function keysOf(...maps: unknown[]): string[] {
  const [was, is, held] = maps.map((map) => (map ?? {}) as Record<string, unknown>);
  return [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])]
    .filter((key) => was?.[key] !== is?.[key] || (maps[2] !== undefined && held?.[key] !== is?.[key]))
    .map((key) => `env.${key}`);
}

/** Reads what `pulumi preview --json` prints. */
function read(stdout: string, stderr: string): Shown | undefined {
  try {
    const { steps = [], diagnostics = [] } = JSON.parse(stdout) as {
      steps?: { op: string; urn: string; detailedDiff?: object | null; diffReasons?: string[] }[];
      diagnostics?: { message: string }[];
    };
    const fields = new Map<string, Set<string>>();
    for (const { urn, detailedDiff, diffReasons = [] } of steps) {
      const name = urn.split("::").at(-1) ?? "";
      const known = fields.get(name) ?? new Set<string>();
      const paths = detailedDiff ? Object.keys(detailedDiff) : diffReasons;
      for (const each of paths) known.add(each.startsWith("env.") ? each : each.replace(/[.[].*$/, ""));
      fields.set(name, known);
    }
    return { fields, text: diagnostics.map(({ message }) => message).join("\n") + stderr };
  } catch {
    return undefined;
  }
}

function liarOf({ lie, at, most }: Lying): Meddler {
  return liar(lie, ({ write }) => at === "all" || (at === "writes") === (write !== undefined), most);
}

/** Returns a meddler that disturbs one exchange. */
function disturberOf(world: World, { kind, nth, ofWrites, isAfter }: Disturbance) {
  const { stack, standIn } = world;
  let seen = 0;
  let isSprung = false;
  let edited: Edited | undefined;
  const spring = async (): Promise<"drop" | "accepted" | undefined> => {
    if (kind === "lose" || kind === "drop") return "drop";
    if (kind === "console") {
      const [endpoint] = standIn.account.records.endpoint.values();
      if (!endpoint) return undefined;
      const { id, idleTimeout } = endpoint;
      edited = { id, field: "idleTimeout", before: idleTimeout };
      endpoint.idleTimeout += 1;
      return undefined;
    }
    if (kind === "interrupt") {
      await signal(stack, "engine", "SIGINT");
      await sleep(700);
      return "accepted";
    }
    if (kind === "kill") await signal(stack, "engine", "SIGKILL");
    await signal(stack, "provider", "SIGKILL");
    return "drop";
  };
  const isIt = ({ write, api }: Request) => {
    if (isSprung || api === "queue" || (ofWrites && !write)) return false;
    seen += 1;
    isSprung = seen === nth;
    return isSprung;
  };
  const isLate = kind === "lose" || (kind !== "drop" && kind !== "interrupt" && isAfter);
  const meddler: Meddler = isLate
    ? {
        async after(request) {
          if (!isIt(request)) return undefined;
          return (await spring()) === "drop" ? "drop" : undefined;
        },
      }
    : { before: async (request) => (isIt(request) ? spring() : undefined) };
  return { meddler, isSprung: () => isSprung, edited: () => edited };
}

/**
 * Returns the program after the user has done what an error advises, or `undefined` if it advises
 * nothing.
 */
function advised(program: readonly Declared[], output: string): Declared[] | undefined {
  const changes = new Map<string, Declared["args"]>();
  for (const [, name = "", id, more = ""] of output.matchAll(/ named "(\w+)" already exists: (\w+)\. No (.*?)\n\n/gs)) {
    changes.set(
      name,
      more.includes("Otherwise, give this resource another name") ? { name: `${name}b` } : { adoptId: id },
    );
  }
  // The size of a volume that this program had set, before it was reverted.
  for (const [, name = "", size] of output.matchAll(
    / '(\w+)' has a problem: size: .* cannot shrink: set (\d+) or more/g,
  ))
    changes.set(name, { size: Number(size) });
  const moved = /change of network volume "(\w+)" is not valid: dataCenterId: .* on these \d+ GB in ([\w-]+)\./g;
  for (const [, name = "", dataCenterId] of output.matchAll(moved)) changes.set(name, { dataCenterId });
  if (!program.some(({ name }) => changes.has(name))) return undefined;
  return program.map((each) => ({ ...each, args: { ...each.args, ...changes.get(each.name) } }));
}

/** Brings the program and the service together after a sequence, and says what is left over. */
export async function finish(world: World): Promise<Problem[]> {
  const { standIn, stack } = world;
  standIn.begin();
  await stack.declare(world.program);
  let result = await stack.run(UP_REFRESH);
  world.said += result.output;
  for (let tries = 0; tries < 3 && result.exitCode !== 0; tries += 1) {
    // The program may say what is refused.
    world.program = advised(world.program, result.output) ?? world.good;
    await stack.declare(world.program);
    result = await stack.run(UP_REFRESH);
    world.said += result.output;
  }
  if (result.exitCode !== 0)
    return [{ rule: "stuck", text: `up --refresh at a healthy service fails:\n${result.output.slice(-2500)}` }];
  const state = await stateOf(world);
  const problems = world.program.flatMap((declared): Problem[] => {
    const own = state.find(({ name }) => name === declared.name);
    const held = own && standIn.account.settings(own.kind, own.id);
    if (!own || !held)
      return [{ rule: "said", text: `"${declared.name}" is declared, and there is no record of it at the end` }];
    const left = differences(declared, held).filter((field) => !result.output.includes(field.replace("env.", "")));
    return left.map((field) => ({
      rule: "said" as const,
      text: `"${declared.name}" (${own.id}): ${field} differs at the end: ${JSON.stringify(declared.args[field])} and ${JSON.stringify(held[field])}`,
    }));
  });
  const all = Object.entries(standIn.account.records).flatMap(([kind, records]) =>
    [...records.values()]
      .filter((each) => !("boundEndpointId" in each && each.boundEndpointId))
      .map(({ id, name }) => ({ kind, id, name })),
  );
  // The engine names a create that was killed or that failed, by its resource.
  const isSaid = (id: string, name: string) =>
    [id, `::${name}, interrupted while creating`, ` ${name} **creating failed`].some((each) =>
      world.said.includes(each),
    );
  const orphans = all.filter(
    ({ id, name }) => !world.foreign.has(id) && !state.some((each) => each.id === id) && !isSaid(id, name),
  );
  return [
    ...problems,
    ...orphans.map(({ kind, id, name }) => ({
      rule: "leaves" as const,
      text: `${kind} ${id} ("${name}") is in no state, and no run has named it`,
    })),
  ];
}
