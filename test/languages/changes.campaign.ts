import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { reviewed } from "../cli/check/previews";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { attemptsIn, hasNamespaces, withoutNetwork } from "../support/withoutNetwork";
import { type Change, harmless, impossible, regressions, SHARED, type UrnOf } from "./changes/changes";
import { type Declared, python, typescript, yaml } from "./changes/program";
import { LANGUAGES, type Language, PYTHON, prepareProgram, prepareSdk } from "./languages";
import { ARCHIVE, VERSION } from "./plugin";

// What the check says of each change, from a preview alone and with --rehearse.

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const [YAML] = LANGUAGES as [Language];
const WORKER_QUOTA = 600;

const PROGRAMS = { TypeScript: typescript, YAML: yaml, Python: python };
type Title = keyof typeof PROGRAMS;

const urnsOf =
  (title: Title): UrnOf =>
  (kind, name) =>
    title === "TypeScript"
      ? `urn:pulumi:dev::test::pulumi-nodejs:dynamic/serverless-gpu:${kind}::${name}`
      : `urn:pulumi:dev::languages::serverless-gpu:index:${kind}::${name}`;

async function stackIn(title: Title, program: string, env: Readonly<Record<string, string>>): Promise<PulumiStack> {
  if (title === "TypeScript") return createStack({ program, typescript: true, env });
  const language = title === "YAML" ? YAML : PYTHON;
  const folder = await prepareProgram(language);
  const stack = await createStack({ folder, env: { ...env, ...language.env } });
  await stack.succeed(["plugin", "install", "resource", "serverless-gpu", VERSION, "--file", ARCHIVE]);
  await stack.writeProgram(program, language.program);
  return stack;
}

interface Checked {
  readonly exitCode: number | null;
  readonly checks: readonly { readonly result: string; readonly what: string; readonly text: string }[];
  readonly [level: string]: unknown;
}

/**
 * Rehearses the program. Without the account, it runs without a network if this machine can have
 * such a namespace.
 */
async function rehearsed(stack: PulumiStack, readsAccount: boolean): Promise<Checked> {
  const hasNetwork = readsAccount || !hasNamespaces;
  const args = ["--rehearse", "--stack", "dev", "--env", "PYTHONPATH", "NODE_OPTIONS", "COMPILE_CACHE"];
  if (!readsAccount) args.push("--from-state");
  const words = [process.execPath, COMMAND, "check", "--json", ...args];
  const [command = "", ...rest] = hasNetwork ? words : withoutNetwork(words).flat();
  const { exitCode, stdout, stderr } = await stack.exec(command, rest);
  if (!stdout.startsWith("{")) throw new Error(`the rehearsal ended with ${exitCode}: ${stdout}${stderr}`);
  if (!hasNetwork) expect(attemptsIn(stderr)).toBe(0);
  return { exitCode, ...JSON.parse(stdout) };
}

/** Returns what was found of the resources of a change. */
function foundOf({ id, title }: Change, { checks, ...levels }: Checked): string[] {
  const dangers = ["data", "deleted", "replaced", "renamed", "zero", "rejected", "impossible"];
  const found = dangers.filter((level) =>
    (levels[level] as readonly { resource?: string; message: string }[]).some(
      ({ resource, message }) =>
        resource?.startsWith(id) || (resource === undefined && message.includes("quota") && title.includes("quota")),
    ),
  );
  const others = checks.filter(({ result, text }) => result === "danger" && text.includes(id) && found.length === 0);
  return [...found, ...others.map(({ what }) => what)];
}

interface Step {
  readonly urn: string;
}

/** Returns a preview of one change, taken from a preview of many. */
function onlyOf({ id }: Change, preview: string): string {
  const { steps, ...rest } = JSON.parse(preview) as { readonly steps: readonly Step[] };
  const own = steps.filter(({ urn }) => {
    const name = urn.split("::").at(-1) ?? "";
    return name.startsWith(id) || !/^[rih]\d\d/.test(name);
  });
  return JSON.stringify({ ...rest, steps: own, changeSummary: {} });
}

const TITLES = (process.env.CHANGES_LANGUAGE?.split(",") ?? Object.keys(PROGRAMS)) as Title[];
/** A batch needs some minutes of two processors. */
const TIMEOUT_MS = 1_800_000;
jest.setTimeout(TIMEOUT_MS);

beforeAll(() => (TITLES.includes("Python") ? prepareSdk(PYTHON) : undefined));

describe.each(TITLES)("%s", (title) => {
  const batches = {
    regressions: regressions(urnsOf(title)),
    impossible: impossible(),
    harmless: harmless(urnsOf(title)),
  };
  const all = Object.values(batches).flat();
  const programOf = (resources: readonly Declared[]) => PROGRAMS[title]([...SHARED, ...resources]);
  let emulator: Emulator;
  let env: Readonly<Record<string, string>>;
  let stack: PulumiStack;

  beforeAll(async () => {
    const adopted = {
      id: "adopted",
      name: "adopted",
      gpuIds: "ADA_24",
      templateId: "t0",
      workersMax: 3,
      idleTimeout: 5,
    };
    emulator = await startEmulator({
      profile: "observed",
      drainMs: 0,
      templateReleaseMs: 0,
      workerQuota: WORKER_QUOTA,
      rateLimits: { limits: "off", management: "off", graphql: "off" },
      seed: { endpoints: [adopted], templates: [{ id: "t0", name: "t0", imageName: "me/a:1" }] },
    });
    env = { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod" };
    stack = await stackIn(title, programOf(all.flatMap(({ before }) => before)), env);
    await stack.up();
  });
  afterAll(() => emulator.stop());

  test.each(
    Object.entries(batches),
  )("%s: a preview alone and a rehearsal say of each what they must", async (batch, changes) => {
    const others = all.filter((change) => !changes.includes(change)).flatMap(({ before }) => before);
    const entry = title === "TypeScript" ? "index.ts" : title === "YAML" ? YAML.program : PYTHON.program;
    await stack.writeProgram(programOf([...changes.flatMap(({ after }) => after), ...others]), entry);
    const preview = await stack.run(["preview", "--json", "--show-sames"]);
    const rehearsal = await rehearsed(stack, batch === "impossible");
    const rows: (Change & { readonly alone: string; readonly code: number; readonly applied: string })[] = [];
    for (const change of changes) {
      const { code, stdout } = await reviewed(onlyOf(change, preview.stdout), { env, json: true });
      const alone = foundOf(change, JSON.parse(stdout)).join() || "ok";
      const applied = foundOf(change, rehearsal).join() || "ok";
      rows.push({ ...change, alone, code, applied });
    }
    const shown = rows.map(({ id, title: change, wanted, alone, code, applied }) =>
      [id, change, wanted, `${alone} (${code})`, applied].join(" | "),
    );
    const outcomes = rehearsal.checks
      .filter(({ what }) => ["update", "next preview", "destroy"].includes(what))
      .map(({ result, what, text }) => `${result} ${what}: ${text}`);
    console.log([`${title}, ${batch}, rehearsal ${rehearsal.exitCode}`, ...outcomes, ...shown].join("\n"));
    const isRight = ({ wanted, alone, code, applied }: (typeof rows)[number]) =>
      code === (wanted === "ok" ? 0 : 4) && [alone, applied].every((each) => each.split(",").includes(wanted));
    expect(rows.filter((row) => !isRight(row))).toEqual([]);
    expect(rehearsal.exitCode).toBe(batch === "harmless" ? 0 : 4);
  });
});
