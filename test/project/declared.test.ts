import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { apply, canHappen, type Job, type JobEvent, newJob } from "../../emulator/jobs/jobStates";
import { fidelity } from "../../emulator/model/fidelity";
import { GPU_POOLS as EMULATOR_POOLS, GPU_TYPES } from "../../emulator/model/gpuTypes";
import { faultChoices } from "../../emulator/server/faultRule";
import { JOB_STATES } from "../../sdk/contract/enums";
import { GPU_POOLS as CLIENT_POOLS } from "../../sdk/contract/gpuPools";
import { CAUSE_IDS } from "../../sdk/diagnosis/causes";
import { RULES } from "../../sdk/diagnosis/rules";
import { REPOSITORY, sourceFiles } from "../support/sources";

/*
 * What is declared must also do something: each of these compiles without any effect.
 */

/** Returns the parsed files of a folder, without those whose names a pattern matches. */
function parsed(folder: string, without: RegExp): ts.SourceFile[] {
  const files = sourceFiles(folder).filter((file) => !without.test(file));
  return files.map((file) => {
    const text = readFileSync(path.join(REPOSITORY, file), "utf8");
    return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  });
}

/** Returns what `pick` finds in the nodes of files. */
function found(files: readonly ts.SourceFile[], pick: (node: ts.Node) => readonly string[]): Set<string> {
  const all = new Set<string>();
  const visit = (node: ts.Node): void => {
    for (const each of pick(node)) all.add(each);
    ts.forEachChild(node, visit);
  };
  for (const file of files) visit(file);
  return all;
}

/** Returns the property that an expression or a pattern reads. */
function readName(node: ts.Node): string[] {
  if (ts.isPropertyAccessExpression(node)) return [node.name.text];
  if (ts.isBindingElement(node)) return [(node.propertyName ?? node.name).getText()];
  return [];
}

function literal(node: ts.Node): string[] {
  return ts.isStringLiteral(node) ? [node.text] : [];
}

/** Returns the kinds of faults that the emulator's rules declare. */
function faultKinds(): Set<string> {
  return found(parsed("emulator/server", /^$/), (node) =>
    ts.isInterfaceDeclaration(node) && node.name.text === "FaultEffect"
      ? node.members.flatMap(({ name }) => name?.getText() ?? [])
      : [],
  );
}

test("every kind of fault has an effect in the emulator", () => {
  const kinds = faultKinds();
  expect(kinds).toContain("soldOut");
  const read = found(parsed("emulator", /faultRule|\/page\//), readName);
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

test("the command line reads every flag that it declares", () => {
  const files = parsed("cli", /^$/);
  const flags = found(files, (node) => {
    const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
    if (!isCall || !/(^|\.)(option|requiredOption|Option)$/.test(node.expression.getText())) return [];
    const [, flag] = /--([a-z0-9-]+)/.exec(node.arguments?.[0]?.getText() ?? "") ?? [];
    if (flag === undefined) return [];
    return [flag.replace(/^no-/, "").replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase())];
  });
  expect(flags).toContain("json");
  const read = found(files, readName);
  expect([...flags].filter((flag) => !read.has(flag))).toEqual([]);
});

test("every kind of fault is described on the emulator's page", () => {
  const page = readFileSync(path.join(REPOSITORY, "docs/emulator.md"), "utf8");
  expect([...faultKinds()].filter((kind) => !new RegExp(`\\b${kind}\\b`).test(page))).toEqual([]);
});

test("every kind of fault of workers, webhooks or the stock is named by a row of the emulator's behavior", () => {
  const texts = Object.values(fidelity).map(({ text }) => text);
  const named = (kind: string) => texts.some((text) => new RegExp(`\\b${kind}\\b`).test(text));
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

test("every output that a resource class declares is in the plugin's schema", () => {
  const { resources } = JSON.parse(readFileSync(path.join(REPOSITORY, "plugin/schema.json"), "utf8"));
  const classes = parsed("provider/dynamic/resources", /^$/).flatMap(({ statements }) => statements);
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
