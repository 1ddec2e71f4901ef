import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Edit, KIND_OF } from "./actions";
import type { HeldEndpoint, Settings } from "./held";
import type { InState } from "./oracle";
import type { Api, Declared, RulesStack } from "./stack";
import type { StandIn } from "./standIn";

/** A program, its stack and its service. */
export interface World {
  readonly standIn: StandIn;
  readonly stack: RulesStack;
  readonly api: Api;
  program: Declared[];
  readonly earlier: Declared[][];
  /** The last program that was applied. */
  good: Declared[];
  /** All that runs have said so far. */
  said: string;
  /** The machine that sent the last deletion of a record. Others cannot know of it. */
  readonly deletedOn: Map<string, string>;
  /** What records were before writes whose end nobody saw. */
  readonly previous: Map<string, Settings[]>;
  /** Ids that somebody else made. */
  readonly foreign: Set<string>;
}

const FILE = "state/.pulumi/stacks/test/dev.json";

/** Reads the state as the engine has left it. */
export async function stateOf({ stack }: World): Promise<InState[]> {
  const text = await readFile(path.join(stack.pulumi.scratch, FILE), "utf8");
  const { checkpoint } = JSON.parse(text) as { checkpoint: { latest?: { resources?: Raw[] } } };
  return (checkpoint.latest?.resources ?? []).flatMap(({ type, urn, id = "", inputs = {}, delete: isOld }) => {
    const kind = KIND_OF[(type.split(":").at(-1) ?? "") as keyof typeof KIND_OF];
    return kind && !isOld ? [{ name: urn.split("::").at(-1) ?? "", kind, id, inputs }] : [];
  });
}

interface Raw {
  readonly type: string;
  readonly urn: string;
  readonly id?: string;
  readonly inputs?: Settings;
  readonly delete?: boolean;
}

/** Applies the edits of a step to the program, or to the service. */
export async function apply(world: World, edits: readonly Edit[]): Promise<void> {
  const previous = [...world.program];
  // An import happens once.
  if (edits.some(isOfProgram)) world.program = previous.map(withoutImport);
  for (const edit of edits) await applyOne(world, edit);
  if (edits.some(isOfProgram)) world.earlier.push(previous);
}

const isOfProgram = ({ do: what }: Edit) => what !== "nothing" && what !== "console";

async function applyOne(world: World, edit: Edit): Promise<void> {
  const { program } = world;
  if (edit.do === "nothing") return;
  if (edit.do === "console") return editInConsole(world, edit);
  const change = (name: string, to: (each: Declared) => Declared) => {
    world.program = program.map((each) => (each.name === name ? to(each) : each));
  };
  if (edit.do === "set") change(edit.name, (each) => ({ ...each, args: { ...each.args, [edit.field]: edit.value } }));
  if (edit.do === "unset") change(edit.name, (each) => ({ ...each, args: without(each.args, edit.field) }));
  if (edit.do === "option") {
    change(edit.name, (each) => {
      const options = without(each.options ?? {}, edit.option);
      return { ...each, options: edit.value === undefined ? options : { ...options, [edit.option]: edit.value } };
    });
  }
  if (edit.do === "add") world.program = [...program, edit.resource];
  if (edit.do === "remove") world.program = program.filter(({ name }) => name !== edit.name);
  if (edit.do === "unadopt") change(edit.name, (each) => ({ ...each, args: without(each.args, "adoptId") }));
  if (edit.do === "revert") world.program = (world.earlier.at(-1) ?? program).map(withoutImport);
  if (edit.do === "take") {
    const id = await foreign(world, edit.resource);
    const { args, options = {} } = edit.resource;
    const by = edit.by === "adoptId" ? { args: { ...args, adoptId: id } } : { options: { ...options, import: id } };
    world.program = [...program, { ...edit.resource, ...by }];
  }
  if (edit.do === "rename") {
    const id = (await stateOf(world)).find(({ name }) => name === edit.name)?.id;
    if (id) change(edit.name, (each) => ({ ...each, name: edit.to, args: { ...each.args, adoptId: id } }));
  }
}

function withoutImport(each: Declared): Declared {
  return each.options?.import === undefined ? each : { ...each, options: without(each.options, "import") };
}

const without = (settings: Settings, field: string) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => name !== field));

/** Makes a record that somebody else made, with other values than the program will say. */
async function foreign({ standIn, foreign }: World, { is, args }: Declared): Promise<string> {
  const { account } = standIn;
  const name = String(args.name);
  const kind = KIND_OF[is];
  const now = "2026-01-01T00:00:00Z";
  const made =
    kind === "endpoint"
      ? account.addEndpoint(
          { name, gpuIds: "AMPERE_24", workersMax: 6, idleTimeout: 44, scalerValue: 7 },
          { imageName: "me/app:0", env: { A: "0", Z: "9" } },
        )
      : kind === "template"
        ? account.addTemplate({ name, imageName: "me/app:0", env: { Z: "9" }, dockerArgs: "theirs" })
        : account.add(kind, {
            name,
            ...{ size: 10, dataCenterId: "EU-RO-1", highPerformance: true },
            ...{ username: "them", password: "their-word", value: "their-value", description: "theirs" },
            ...{ createdAt: now, changedAt: now },
          } as never);
  foreign.add(made.id);
  return made.id;
}

async function editInConsole(world: World, { name, field, value }: Edit & { readonly do: "console" }): Promise<void> {
  const { account } = world.standIn;
  const own = (await stateOf(world)).find((each) => each.name === name);
  const record = own && account.records[own.kind].get(own.id);
  // The console has no number of GPUs for an endpoint on CPUs.
  if (record && field === "gpuCount" && (record as Partial<HeldEndpoint>).instanceIds?.length) return;
  if (!own || !record || field === "dataCenterId" || field === "highPerformance") return;
  if (own.kind !== "endpoint" || Object.hasOwn(record, field)) return void Object.assign(record, { [field]: value });
  account.bindContainer(record as HeldEndpoint, { [field]: value });
}
