import { execFile } from "node:child_process";
import { copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { type Emulator, startEmulator } from "../../emulator";
import schema from "../../plugin/schema.json";
import { createStack, type PulumiStack, SCRATCH } from "../pulumi/harness";
import { REPOSITORY } from "../support/sources";
import { compileJava, LANGUAGES, PYTHON, prepareProgram, prepareSdk } from "./languages";
import { ARCHIVE, VERSION } from "./plugin";

// The examples in the descriptions of the schema. C# is not compiled: its SDK is not available
// here.

const [GO, JAVA] = ["go", "java"].map((name) => {
  const language = LANGUAGES.find(({ runtime }) => runtime === name);
  if (!language) throw new Error(`${name} is not tested`);
  return language;
}) as [typeof PYTHON, typeof PYTHON];

const run = promisify(execFile);
const FOLDER = path.join(SCRATCH, "languages/examples");

/** Returns the examples in a language by the names of their resources and functions. */
function examplesIn(language: string): Readonly<Record<string, string>> {
  const described = Object.entries({ ...schema.resources, ...schema.functions });
  const found = described.map(([token, { description }]) => {
    const [, program = ""] = new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, "s").exec(description) ?? [];
    return [token.replace(/^.*:/, ""), program] as const;
  });
  return Object.fromEntries(found);
}

/** Writes each example to a folder of its own. */
async function writeExamples(language: string, folder: string, fileOf: (name: string) => string): Promise<void> {
  for (const [name, program] of Object.entries(examplesIn(language))) {
    const file = path.join(folder, fileOf(name));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${program}\n`);
  }
}

/** An account that has what the examples look for. */
async function startAccount(): Promise<Emulator> {
  const handlers = { "llama-3": () => ({ text: "4" }) };
  const emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    templateReleaseMs: 0,
    coldStartMs: 50,
    handlers,
  });
  emulator.seed({
    endpoints: [{ id: "found", name: "llama", gpuIds: "ADA_24", templateId: "tpl" }],
    templates: [{ id: "tpl", name: "llama-template", imageName: "a:1", env: [{ key: "A", value: "b" }] }],
    volumes: [{ id: "vol", name: "models", size: 20, dataCenterId: "EU-RO-1" }],
    registryAuths: [{ id: "auth", name: "ghcr", username: "me", password: "pw" }],
    pods: [{ id: "abc123def456gh", name: "pod" }],
  });
  return emulator;
}

/** The examples are for RunPod, over the interface that has images of endpoints. */
const accountEnv = ({ env }: Emulator) => ({ ...env, SERVERLESS_GPU_API: "v2" });

/** REST v2 knows no discount, and the emulator's account has no limits. */
const NOT_SHOWN = ["getServerlessDiscount", "getAccountLimits"];

/** Applies an example, previews it again without a change, and destroys it. */
async function live(example: string, stack: PulumiStack, emulator: Emulator): Promise<void> {
  const before = [emulator.endpoints.list().length, emulator.templates.list().length];
  await stack.up();
  const isEmpty = Object.keys(await stack.outputs()).length === 0;
  expect({ example, isEmpty }).toEqual({ example, isEmpty: NOT_SHOWN.includes(example) });
  await stack.preview("--expect-no-changes");
  await stack.destroy();
  expect([emulator.endpoints.list().length, emulator.templates.list().length]).toEqual(before);
}

async function newStack(folder: string, env: Readonly<Record<string, string>>): Promise<PulumiStack> {
  const stack = await createStack({ folder, env });
  await stack.succeed(["plugin", "install", "resource", "serverless-gpu", VERSION, "--file", ARCHIVE]);
  await stack.setConfig({ token: "canary-1", password: "canary-2" }, { secret: true });
  return stack;
}

beforeAll(() => rm(FOLDER, { recursive: true, force: true }));

test("TypeScript: every example compiles with the SDK that Pulumi generates", async () => {
  const folder = path.join(FOLDER, "typescript");
  await mkdir(path.join(folder, "node_modules"), { recursive: true });
  const sdk = path.join(folder, "sdk");
  // The versioned schema, as the plugin returns it.
  await writeFile(path.join(folder, "schema.json"), JSON.stringify({ ...schema, version: VERSION }));
  // The Go module of the language hosts has the generator.
  const generator = path.join(__dirname, "nodejs/generate.go");
  const options = { cwd: path.join(REPOSITORY, "tools/pulumi-cli/hosts"), env: { ...process.env, CGO_ENABLED: "0" } };
  await run("go", ["run", "-mod=readonly", generator, path.join(folder, "schema.json"), sdk], options);
  await symlink(sdk, path.join(folder, "node_modules", schema.language.nodejs.packageName));
  await writeExamples("typescript", folder, (each) => `${each}.ts`);
  const files = Object.keys(examplesIn("typescript")).map((each) => `${each}.ts`);
  const compilerOptions = "--strict --noEmit --skipLibCheck --module commonjs --target es2022 --types node".split(" ");
  const tsc = path.join(REPOSITORY, "node_modules/.bin/tsc");
  await run(tsc, ["--ignoreConfig", ...compilerOptions, ...files], { cwd: folder });
});

test("Go: every example, and the program of new projects, compiles, vet finds nothing in it, and gofmt would not change it", async () => {
  await prepareSdk(GO);
  const folder = await prepareProgram(GO);
  await writeExamples("go", path.join(folder, "examples"), (each) => `${each}/main.go`);
  const ofNewProjects = path.join(REPOSITORY, "tools/newProject/programs/go/main.go.txt");
  await mkdir(path.join(folder, "examples/newProject"));
  await copyFile(ofNewProjects, path.join(folder, "examples/newProject/main.go"));
  await run("go", ["vet", "./examples/..."], { cwd: folder, env: { ...process.env, CGO_ENABLED: "0" } });
  expect((await run("gofmt", ["-l", "examples"], { cwd: folder })).stdout).toBe("");
});

test("Java: every example compiles", async () => {
  await prepareSdk(JAVA);
  // Each program has a class of the same name.
  for (const [name, program] of Object.entries(examplesIn("java"))) {
    const folder = path.join(FOLDER, "java", name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "App.java"), program.replace("package example;", `package example.${name};`));
  }
  await compileJava(path.join(FOLDER, "java"), path.join(FOLDER, "java-classes"));
});

test("YAML: every example is created, changes nothing afterwards, and is destroyed", async () => {
  await using emulator = await startAccount();
  const folder = path.join(FOLDER, "yaml");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "Pulumi.yaml"), "name: examples\nruntime: yaml\n");
  const stack = await newStack(folder, accountEnv(emulator));
  for (const [name, program] of Object.entries(examplesIn("yaml"))) {
    await stack.writeFile("Pulumi.yaml", `name: examples\nruntime: yaml\n${program}\n`);
    await live(name, stack, emulator);
  }
});

test("Python: every example is created, changes nothing afterwards, and is destroyed", async () => {
  await prepareSdk(PYTHON);
  await using emulator = await startAccount();
  const stack = await newStack(await prepareProgram(PYTHON), { ...accountEnv(emulator), ...PYTHON.env });
  for (const [name, program] of Object.entries(examplesIn("python"))) {
    await stack.writeFile(PYTHON.program, `${program}\n`);
    await live(name, stack, emulator);
  }
});
