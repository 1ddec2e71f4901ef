import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { commandLine } from "../../cli/commandLine";
import { apply, canHappen, type Job, type JobEvent, newJob } from "../../emulator/jobs/jobStates";
import { fidelity } from "../../emulator/model/fidelity";
import { GPU_POOLS as EMULATOR_POOLS, GPU_TYPES, pricePerGpu } from "../../emulator/model/gpuTypes";
import { faultChoices } from "../../emulator/server/faultRule";
import * as provider from "../../provider";
import { RESOURCE_TYPES } from "../../provider/engine/resourceTypes";
import { SOURCES } from "../../provider/functions/sources";
import * as client from "../../sdk";
import { GpuTier, JOB_STATES, RETRYABLE_JOB_STATES } from "../../sdk/contract/enums";
import { GPU_POOLS as CLIENT_POOLS } from "../../sdk/contract/gpuPools";
import { CAUSE_IDS } from "../../sdk/diagnosis/causes";
import { RULES } from "../../sdk/diagnosis/rules";
import { contract } from "../../tools/contractRows.js";
import { errorCodes } from "../../tools/errorCodes.js";
import { found, literal, parsed, readName } from "../support/parsed";
import { REPOSITORY } from "../support/sources";

/*
 * What is declared must also do something: each of these compiles without any effect.
 */

const textOf = (file: string) => readFileSync(path.join(REPOSITORY, file), "utf8");

/** Returns `true` if a text contains a word. */
const hasWord = (text: string, word: string) => new RegExp(`\\b${word}\\b`).test(text);

/** Returns the kinds of faults that the emulator's rules declare. */
function faultKinds(): Set<string> {
  return found(parsed("emulator/server"), (node) =>
    ts.isInterfaceDeclaration(node) && node.name.text === "FaultEffect"
      ? node.members.flatMap(({ name }) => name?.getText() ?? [])
      : [],
  );
}

/** Returns the kinds of faults that the table of responses has. */
function responders(node: ts.Node): string[] {
  if (!ts.isVariableDeclaration(node) || node.name.getText() !== "RESPONDERS") return [];
  const table = node.initializer;
  return table && ts.isObjectLiteralExpression(table) ? table.properties.map((row) => row.name?.getText() ?? "") : [];
}

test("every kind of fault has an effect in the emulator", () => {
  const kinds = faultKinds();
  expect(kinds).toContain("soldOut");
  const read = found(parsed("emulator", /faultRule|\/page\//), (node) => [...readName(node), ...responders(node)]);
  expect([...kinds].filter((kind) => !read.has(kind))).toEqual([]);
});

/** An event of each type. */
const EVENTS: { readonly [Type in JobEvent["type"]]: Extract<JobEvent, { type: Type }> } = {
  start: { type: "start", workerId: "w" },
  progress: { type: "progress", output: 1 },
  complete: { type: "complete", output: 1 },
  fail: { type: "fail", error: "wrong" },
  exceedExecutionTimeout: { type: "exceedExecutionTimeout" },
  loseWorker: { type: "loseWorker" },
  loseJob: { type: "loseJob" },
  timeOut: { type: "timeOut" },
  cancel: { type: "cancel" },
  retry: { type: "retry" },
};

test("the emulator's jobs can reach every status of the contract", () => {
  const request = { input: {}, policy: { executionTimeout: 1000, lowPriority: false, ttl: 1000 } };
  const reached = new Map<string, Job>();
  const reach = (job: Job): void => {
    if (reached.has(job.status)) return;
    reached.set(job.status, job);
    for (const event of Object.values(EVENTS)) if (canHappen(job, event.type)) reach(apply(job, event, 1));
  };
  reach(newJob("job-1", "run", request, 0));
  expect([...reached.keys()].sort()).toEqual([...JOB_STATES].sort());
});

test("every cause of a wait is reported by a rule", () => {
  const yielded = found(parsed("sdk/diagnosis", /causes\.ts$/), literal);
  expect(CAUSE_IDS.filter((id) => !RULES[id] && !yielded.has(id))).toEqual([]);
});

/** Returns the flag that a call declares, as a property. */
function declaredFlag(node: ts.Node): string[] {
  const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
  if (!isCall || !/(^|\.)(option|requiredOption|Option)$/.test(node.expression.getText())) return [];
  const [, flag] = /--([a-z0-9-]+)/.exec(node.arguments?.[0]?.getText() ?? "") ?? [];
  if (flag === undefined) return [];
  return [flag.replace(/^no-/, "").replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase())];
}

/** Returns the flags that are read from a value whose name or type contains "flags". */
function readFlag(node: ts.Node): string[] {
  const isFlags = (of: ts.Node | undefined) => of !== undefined && /flags/i.test(of.getText());
  if (ts.isPropertyAccessExpression(node)) return isFlags(node.expression) ? readName(node) : [];
  if (!ts.isObjectBindingPattern(node)) return [];
  const { parent } = node;
  const isOfFlags = !ts.isBindingElement(parent) && (isFlags(parent.type) || isFlags(parent.initializer));
  return isOfFlags ? node.elements.flatMap(readName) : [];
}

/** Returns the names in a list, by which a command reads several flags alike. */
const listed = (node: ts.Node) => (ts.isArrayLiteralExpression(node) ? node.elements.flatMap(literal) : []);

test.each(
  commandLine().commands.map((command) => command.name()),
)("the command %s reads every flag that it declares", (name) => {
  const files = parsed(`cli/${name}`);
  const read = found(files, (node) => [...readFlag(node), ...listed(node)]);
  expect([...found(files, declaredFlag)].filter((flag) => !read.has(flag))).toEqual([]);
});

test("a declared flag is found", () => {
  expect([...found(parsed("cli/orphans"), declaredFlag)]).toContain("nobodyManagesIt");
});

/**
 * Returns the commands that a call or a list of arguments begins with: `emulator` and `emulator
 * exec`.
 */
function runs(node: ts.Node): string[] {
  const isRun = ts.isCallExpression(node) && /^(run|start)$/.test(node.expression.getText());
  const [first, ...others] = isRun ? node.arguments : ts.isArrayLiteralExpression(node) ? node.elements : [];
  const isProgram = first !== undefined && /^(MAIN|COMMAND|CLI)$/.test(first.getText());
  const [one = "", two = ""] = (isRun && first ? [first, ...others] : isProgram ? others : []).map(
    (each) => literal(each)[0],
  );
  return [one, `${one} ${two}`];
}

test("every command and subcommand is run by a test", () => {
  const names = commandLine().commands.flatMap((command) => [
    command.name(),
    ...command.commands.map((each) => `${command.name()} ${each.name()}`),
  ]);
  const run = found(parsed(["test/cli", "test/pulumi"], /commandLine|printedCommands/), runs);
  expect(names).toContain("emulator exec");
  expect(names.filter((name) => !run.has(name))).toEqual([]);
});

test("every kind of fault is described on the emulator's page", () => {
  const page = textOf("docs/emulator.md");
  expect([...faultKinds()].filter((kind) => !hasWord(page, kind))).toEqual([]);
});

test("every kind of fault is produced in a test of the emulator", () => {
  const set = found(parsed("test/emulator"), (node) => (ts.isPropertyAssignment(node) ? [node.name.getText()] : []));
  expect([...faultKinds()].filter((kind) => !set.has(kind))).toEqual([]);
});

test("every kind of fault of workers, webhooks or the stock is named by a row of the emulator's behavior", () => {
  const texts = Object.values(fidelity).map(({ text }) => text);
  const named = (kind: string) => texts.some((text) => hasWord(text, kind));
  const ofService = faultChoices().filter(({ onlyEndpoint }) => onlyEndpoint);
  expect(ofService.filter(({ name }) => !named(name)).map(({ name }) => name)).toEqual([]);
});

test("the client and the emulator name the same GPU pools with the same GPU types", () => {
  const ofClient = Object.entries(CLIENT_POOLS).map(([id, { types }]) => [id, types.map((type) => `NVIDIA ${type}`)]);
  const ofEmulator = EMULATOR_POOLS.map(({ id }) => [
    id,
    GPU_TYPES.filter(({ pool }) => pool === id).map((type) => type.id),
  ]);
  expect(Object.fromEntries(ofEmulator)).toEqual(Object.fromEntries(ofClient));
});

test("each GPU pool has the same price in both tables, and cards with at least the memory in its name", () => {
  const priced = Object.entries(CLIENT_POOLS).flatMap(([pool, { perSecond }]) =>
    perSecond === undefined ? [] : { pool, client: perSecond * 3600, emulator: pricePerGpu(pool) },
  );
  expect(priced.filter(({ client, emulator }) => Math.abs(client - emulator) >= 0.01)).toEqual([]);
  const least = (pool: string) => Number(/\d+/.exec(pool)?.[0]);
  const small = GPU_TYPES.filter(({ pool, memoryInGb }) => pool !== null && memoryInGb < least(pool));
  expect(small.map(({ id, memoryInGb, pool }) => `${pool}: ${id} has ${memoryInGb} GB`)).toEqual([]);
});

test("the rows of the emulator's behavior name the GPU pools that they are about", () => {
  const rows = `${fidelity["save.gpu-ids"].text} ${fidelity["save.newer-tiers"].text}`;
  expect(Object.keys(GpuTier).filter((pool) => !hasWord(rows, pool))).toEqual([]);
  const newer = GPU_TYPES.flatMap(({ pool, cudaVersions }) => (pool && !cudaVersions.includes("11.8") ? pool : []));
  expect(newer.filter((pool) => !hasWord(fidelity["workers.machines"].text, pool))).toEqual([]);
});

test("the texts about retries name every status in which a job can be retried", () => {
  const rows = [fidelity["queue.retry"].text, String(contract["contract.retry-states"]?.rule)];
  for (const text of [...rows, textOf("docs/error-codes.md")])
    expect(RETRYABLE_JOB_STATES.filter((status) => !hasWord(text, status))).toEqual([]);
});

test("the emulator's page has a color for every status of a job", () => {
  const styles = textOf("emulator/page/static/parts.css");
  expect(JOB_STATES.filter((status) => !new RegExp(`^\\.${status}\\b`, "m").test(styles))).toEqual([]);
});

const CREATORS = parsed(["sdk", "provider", "plugin", "cli"]);

test("every error code without a class is thrown, every error class is used, and the client exports every class", () => {
  const thrown = found(CREATORS, (node) => {
    if (!ts.isNewExpression(node)) return [];
    const name = node.expression.getText();
    const [code] = node.arguments ?? [];
    return name === "CodedError" && code ? [...found([code], literal)] : [name];
  });
  const unused = errorCodes().filter(
    ({ code, className }) => !thrown.has(className === "CodedError" ? code : className),
  );
  expect(unused.map(({ code, className }) => `${code} (${className})`)).toEqual([]);
  expect(errorCodes().flatMap(({ className }) => (className in client ? [] : className))).toEqual([]);
});

/** The functions whose whole result is secret, which only an output keeps. */
const ONLY_OUTPUT = ["getServerlessTemplateEnv"];

test("every function is exported in both forms, and the README names it and every resource, like the page of Pulumi's registry", () => {
  const functions = Object.keys(SOURCES);
  const forms = functions.flatMap((name) => [...(ONLY_OUTPUT.includes(name) ? [] : [name]), `${name}Output`]);
  expect(forms.filter((name) => !(name in provider))).toEqual([]);
  const resources = RESOURCE_TYPES.map(({ type }) => type.split(":").at(-1) ?? "");
  const unnamed = (page: string, names: readonly string[]) =>
    names.filter((name) => !textOf(page).includes(`\`${name}\``));
  expect(unnamed("README.md", [...functions, ...resources])).toEqual([]);
  expect(unnamed("docs/_index.md", resources)).toEqual([]);
});

test("every output that a resource class declares is in the plugin's schema", () => {
  const { resources } = JSON.parse(textOf("plugin/schema.json"));
  const classes = parsed("provider/dynamic/resources").flatMap(({ statements }) => statements);
  const outputs = classes.filter(ts.isClassDeclaration).flatMap(({ name, members }) => {
    const properties = resources[`serverless-gpu:index:${name?.text}`]?.properties;
    const declared = members.filter(
      (each) => ts.isPropertyDeclaration(each) && /Output</.test(each.type?.getText() ?? ""),
    );
    return properties ? declared.map((each) => ({ output: `${name?.text}.${each.name?.getText()}`, properties })) : [];
  });
  expect(outputs.map(({ output }) => output)).toContain("ServerlessEndpoint.queueUrl");
  const missing = outputs.filter(({ output, properties }) => !Object.hasOwn(properties, output.split(".")[1] ?? ""));
  expect(missing.map(({ output }) => output)).toEqual([]);
});
