import type { Command } from "./actions";
import { KIND_OF } from "./actions";
import type { Kind, Settings } from "./held";
import type { Api, Declared, Form } from "./stack";
import type { Write } from "./standIn";

/** A rule that a run broke. */
export interface Problem {
  readonly rule: "shown" | "creates" | "deletes" | "said" | "claims" | "leaves" | "stuck";
  readonly text: string;
}

/** A resource as the state holds it. */
export interface InState {
  readonly name: string;
  readonly kind: Kind;
  readonly id: string;
  readonly inputs: Settings;
}

/** What a preview showed. */
export interface Shown {
  /** The changed fields of each resource, such as `workersMax` and `env.A`. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
  /** All lines that it logged. */
  readonly text: string;
}

/** What the oracle knows of a run: nothing of it comes from the provider's code. */
export interface Facts {
  readonly form: Form;
  readonly api: Api;
  readonly command: Command;
  readonly target: string | undefined;
  readonly program: readonly Declared[];
  readonly shown: Shown;
  readonly output: string;
  readonly exitCode: number | null;
  readonly wasDisturbed: boolean;
  readonly before: readonly InState[];
  readonly after: readonly InState[];
  readonly writes: readonly Write[];
  /** The settings of a record right before the first write of the run. */
  readonly exists: (kind: Kind, id: string) => boolean;
  /** Records whose deletion the run's machine may not know of. */
  readonly isForgiven: (id: string) => boolean;
  /** Values that a record had before earlier writes whose end nobody saw. */
  readonly previous: (id: string) => readonly Settings[];
  /** What the console has changed while the run went on. */
  readonly edited?: Edited | undefined;
}

/** A change in the console during a run. */
export interface Edited {
  readonly id: string;
  readonly field: string;
  readonly before: unknown;
}

/** Fields that no program sets. */
const SILENT = ["id", "changedAt", "createdAt", "version", "workersPFBTarget", "boundEndpointId"];

/** Returns the changed fields of a write, with the keys of maps. */
export function changedFields(before: Settings = {}, after: Settings = {}): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) => {
    if (SILENT.includes(field) || same(before[field], after[field])) return [];
    if (field !== "env") return [field];
    const [was, is] = [before.env, after.env].map((env) => (env ?? {}) as Record<string, string>);
    return [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])]
      .filter((key) => was?.[key] !== is?.[key])
      .map((key) => `env.${key}`);
  });
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The names in programs of a field of the service. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  networkVolumeIds: ["networkVolumeIds", "networkVolumeId"],
  dockerArgs: ["dockerArgs", "command"],
};

function isIn(field: string, fields: ReadonlySet<string>): boolean {
  const names = NAMES[field] ?? [field];
  return names.some((name) => fields.has(name)) || (field.startsWith("env.") && fields.has("env"));
}

/** Words of a log line about an unfinished write, or about what is put back. */
const OF_NOTE = /earlier run|unfinished|interrupted|not have completed|restor|put back|previous|was not completed/i;
const matching = (lines: string, pattern: RegExp) =>
  lines
    .split("\n")
    .filter((line) => pattern.test(line))
    .join("\n");

const WORKERS = ["workersMin", "workersMax"];
const CONTAINER = /^(imageName|dockerArgs|containerDiskInGb|env\..*|ports|containerRegistryAuthId)$/;
/** Fields whose value the state holds encrypted: what is written must be what the program says. */
const SECRET = ["username", "password", "value"];

/** Returns the lines of a text that name a record, by its id or its resource. */
function linesAbout(text: string, id: string | undefined, name: string | undefined): string {
  const names = [id, name].filter((each) => each !== undefined);
  const isNamed = (line: string) => names.some((each) => new RegExp(`\\b${each}\\b`).test(line));
  const isProgress = (line: string) => /\[diff:/.test(line);
  return text
    .split("\n")
    .filter((line) => isNamed(line) && !isProgress(line))
    .join("\n");
}

/** Returns what a run broke. */
export function judge(facts: Facts): Problem[] {
  const problems = facts.writes.flatMap((write) => judgeWrite(facts, write));
  return [...problems, ...judgeClaims(facts), ...judgeReleases(facts), ...judgeEnd(facts)];
}

/** A record that was taken over and is let go is named: somebody pays for it. */
function judgeReleases({ before, after, program, exitCode, output, exists }: Facts): Problem[] {
  if (exitCode !== 0) return [];
  const released = before.filter(
    ({ name, kind, id, inputs }) =>
      inputs.adoptId !== undefined &&
      exists(kind, id) &&
      !after.some((each) => each.id === id) &&
      !program.some((each) => each.name === name || each.args.adoptId === id),
  );
  return released
    .filter(({ id }) => !output.includes(id))
    .map(({ kind, id, name }) => ({
      rule: "said",
      text: `${kind} ${id} ("${name}") was let go, and the run did not name it`,
    }));
}

interface Subject {
  readonly name: string | undefined;
  readonly declared: Declared | undefined;
  readonly was: InState | undefined;
}

/** Finds the resource to which a written record belongs. */
function subjectOf({ program, before, after }: Facts, { kind, id, before: was, after: is }: Write): Subject {
  const holders = before.filter((each) => each.id === id);
  // While an adoption is not complete, two resources of the state have the record.
  const holder = holders.find((each) => program.some(({ name }) => name === each.name)) ?? holders[0];
  const own = holder ?? after.find((each) => each.id === id);
  const called = String((is ?? was)?.name);
  const declared = program.find(
    (each) =>
      KIND_OF[each.is] === kind &&
      (each.args.adoptId === id ||
        each.options?.import === id ||
        each.name === own?.name ||
        (!own && each.args.name === called)),
  );
  const isTaken = declared !== undefined && declared.name !== own?.name;
  return { name: isTaken ? declared.name : own?.name, declared, was: holder };
}

function judgeWrite(facts: Facts, write: Write): Problem[] {
  if (write.write === "create") return judgeCreate(facts, write);
  if (write.write === "delete") return judgeDelete(facts, write);
  return judgeChange(facts, write);
}

function judgeCreate(facts: Facts, write: Write): Problem[] {
  const { declared } = subjectOf(facts, write);
  const what = `${write.kind} ${write.id} ("${write.after?.name}")`;
  if (!declared) return [{ rule: "creates", text: `${what} was created, and the program does not declare it` }];
  const old = facts.before.find(({ name }) => name === declared.name);
  const isGone = old !== undefined && !facts.writes.some(({ write, id }) => write === "delete" && id === old.id);
  // A record that is gone may be made again by a refresh.
  if (old && isGone && facts.exists(old.kind, old.id)) {
    return [{ rule: "creates", text: `${what} was created beside ${old.id}, which the state has` }];
  }
  return [];
}

function judgeDelete(facts: Facts, write: Write): Problem[] {
  const { declared, was, name } = subjectOf(facts, write);
  const what = `${write.kind} ${write.id} ("${write.before?.name}")`;
  const adopted = was?.inputs.adoptId;
  if (adopted !== undefined) return [{ rule: "deletes", text: `${what} was deleted, but it was taken over (adoptId)` }];
  // A destroy does not run the program, so it does not see that the program adopts the record.
  if (facts.command === "destroy" && [undefined, name, was?.name].includes(facts.target)) return [];
  if (declared === undefined) {
    return was || linesAbout(facts.output, write.id, name) !== ""
      ? []
      : [{ rule: "deletes", text: `${what} was deleted, and nobody managed it` }];
  }
  if (isFixedChange(write, declared)) return [];
  // The pages warn of this: the plugin does not see the resources that a run leaves out.
  if (facts.form === "plugin" && facts.target === was?.name && declared.name !== was?.name) return [];
  return [{ rule: "deletes", text: `${what} was deleted or replaced, but the program did not change a fixed field` }];
}

/** Returns true if the program says another type or processor than the record has. */
function isFixedChange({ kind, before = {} }: Write, { args }: Declared): boolean {
  if (kind === "auth") return args.name !== before.name || args.password !== before.password;
  if (kind === "secret") return args.name !== before.name;
  if (kind !== "endpoint") return false;
  const type = args.type === "LOAD_BALANCER" ? "LB" : "QB";
  const isCpu = (before.instanceIds as string[]).length > 0;
  return type !== before.type || isCpu !== (args.instanceIds !== undefined);
}

function judgeChange(facts: Facts, write: Write): Problem[] {
  const { shown, output, api, command, target, writes } = facts;
  const { name, declared, was } = subjectOf(facts, write);
  const { before = {}, after = {}, kind, id = "" } = write;
  const fields = shown.fields.get(name ?? "") ?? new Set<string>();
  const logged = linesAbout(shown.text, id, name) + matching(linesAbout(output, id, name), OF_NOTE);
  const said = linesAbout(output, id, name);
  const isTaken =
    declared !== undefined &&
    was?.name !== declared.name &&
    (declared.args.adoptId === id || declared.options?.import === id);
  const isLeaving =
    (command === "destroy" && (!target || target === name)) ||
    (was !== undefined && !declared) ||
    (declared !== undefined && isFixedChange(write, declared));
  const first = writes.find((each) => each.kind === kind && each.id === id)?.before ?? before;
  const isOff = before.workersMin === 0 && before.workersMax === 0;
  const isAllowed = (field: string): boolean => {
    if (isIn(field, fields)) return true;
    const [top = field] = field.split(".");
    // An open note, which the preview names.
    if (new RegExp(`\\b${field.replace("env.", "")}\\b`).test(logged)) return true;
    // A save over GraphQL sends back what it has read, so it loses an edit after that read.
    const { edited } = facts;
    if (api === "graphql" && edited?.id === id && edited.field === field && same(after[field], edited.before))
      return true;
    if (SECRET.includes(field)) return same(after[field], declared?.args[field]);
    if (isTaken) return isIn(top, new Set(Object.keys(declared.args)));
    const isWorkers = WORKERS.includes(field);
    // A drain, and an endpoint at zero, which the run says.
    if (isWorkers && (isLeaving || (isOff && /zero|workersM/.test(said)))) return true;
    if (field === "workersMax" && fields.has("workersMin") && after.workersMax === after.workersMin) return true;
    if (isWorkers && (fields.has("recycleWorkers") || fields.has("templateRevision"))) return true;
    if (api === "v2" && CONTAINER.test(field) && (fields.has("templateId") || fields.has("templateRevision")))
      return true;
    // A put-back: what served before this run, or before a write whose end nobody saw.
    const isPutBack = [first, ...facts.previous(id)].some((each) => same(each[top], after[top]));
    return isPutBack && matching(said, OF_NOTE) !== "";
  };
  // A drain over GraphQL sends back what it has read of an endpoint that then is gone.
  const isGone = writes.some((each) => each.write === "delete" && each.id === id);
  if (api === "graphql" && isGone && judgeDelete(facts, { ...write, write: "delete" }).length === 0) return [];
  const wrong = changedFields(before, after).filter((field) => !isAllowed(field));
  if (wrong.length === 0) return [];
  const values = wrong.map((field) => `${field}: ${value(before, field)} → ${value(after, field)}`).join(", ");
  const text = `${kind} ${id} ("${name}"): ${write.operation} changed ${values}; shown were ${[...fields].join(", ") || "no changes"}`;
  return [{ rule: "shown", text }];
}

function value(settings: Settings, field: string): string {
  const [top = field, key] = field.split(".");
  const whole = settings[top];
  return JSON.stringify(key === undefined ? whole : (whole as Record<string, unknown> | undefined)?.[key]);
}

/** Nothing says that a record serves that does not exist. */
function judgeClaims({ output, exists }: Facts): Problem[] {
  const claims = [...output.matchAll(/\b(en\w{9,}) is (?:still )?in service/g)];
  return claims
    .filter(([, id = ""]) => !exists("endpoint", id))
    .map(([claim]) => ({ rule: "claims", text: `the run said "${claim}", but it does not exist` }));
}

/** After a run that succeeded, each declared resource has a record, or the run said otherwise. */
function judgeEnd(facts: Facts): Problem[] {
  const { exitCode, wasDisturbed, command, target, program, after, exists, isForgiven, output } = facts;
  if (exitCode !== 0 || wasDisturbed || target || !["up", "up --refresh", "plan"].includes(command)) return [];
  return program.flatMap((declared): Problem[] => {
    const own = after.find(({ name }) => name === declared.name);
    if (!own)
      return [
        { rule: "said", text: `"${declared.name}" is declared, and the state lacks it after a successful ${command}` },
      ];
    if (exists(own.kind, own.id)) return [];
    if (command !== "up --refresh" && isForgiven(own.id)) return [];
    if (/\bgone\b|not exist|deleted/i.test(linesAbout(output, own.id, own.name))) return [];
    return [
      {
        rule: "said",
        text: `${own.kind} ${own.id} ("${own.name}") does not exist, and a successful ${command} did not say so`,
      },
    ];
  });
}

/** Returns how a program and the service differ for a resource. */
export function differences({ is, args, options = {} }: Declared, held: Settings): string[] {
  const ignored = (options.ignoreChanges ?? []) as readonly string[];
  return Object.entries(args).flatMap(([field, wanted]) => {
    if (ignored.includes(field) || !Object.hasOwn(held, field)) return [];
    if (field === "highPerformance" || is === "ContainerRegistryAuth" || field === "value") return [];
    if (field === "type") return (wanted === "LOAD_BALANCER") === (held.type === "LB") ? [] : [field];
    if (field !== "env") return same(normal(wanted), normal(held[field])) ? [] : [field];
    const env = held.env as Record<string, string>;
    return Object.entries(wanted as Record<string, string>)
      .filter(([key, each]) => env[key] !== each)
      .map(([key]) => `env.${key}`);
  });
}

const normal = (each: unknown) =>
  typeof each === "string"
    ? each
        .split(",")
        .map((part) => part.trim())
        .join(",")
    : each;
