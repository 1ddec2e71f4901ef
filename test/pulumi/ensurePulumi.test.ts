import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { createStack, SCRATCH } from "./harness";

const TOOL = path.resolve(__dirname, "../../tools/pulumi-cli");
const VERSION = "3.230.0";
const LAUNCHERS = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

/**
 * A separate machine: nothing on PATH except what a test installs, an empty cache, and no network.
 */
let machine: string;
let bin: string;
let cache: string;

beforeEach(async () => {
  await mkdir(SCRATCH, { recursive: true });
  machine = await mkdtemp(path.join(SCRATCH, "machine-"));
  bin = path.join(machine, "bin");
  cache = path.join(machine, "cache/pulumi-serverless-gpu/pulumi");
  await mkdir(bin);
  await network("throw new Error('no network');");
});

afterEach(() => rm(machine, { recursive: true, force: true }));

/**
 * Sets the response of a download: the body of a function that replaces `fetch` in the tool's
 * process.
 */
async function network(body: string) {
  await writeFile(path.join(machine, "network.cjs"), `globalThis.fetch = async () => { ${body} };`);
}

/** Installs an executable on the machine. */
async function install(file: string, source: string) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!${process.execPath}\n${source}`);
  await chmod(file, 0o755);
}

const engineSource = (version: string) => `console.log("v${version}");`;

async function installOfficialEngine(folder: string, version: string) {
  await install(path.join(folder, "pulumi"), engineSource(version));
  for (const launcher of LAUNCHERS) await install(path.join(folder, launcher), "// official");
}

/**
 * Installs a Go that builds `engine` once the file `held` is gone, and that logs its arguments and
 * environment.
 */
async function installGo(engine = `#!${process.execPath}\n${engineSource(VERSION)}`) {
  await writeFile(path.join(machine, "engine"), engine, { mode: 0o755 });
  const source = `
    const fs = require("node:fs");
    const args = process.argv.slice(2);
    fs.appendFileSync(${JSON.stringify(path.join(machine, "go.log"))}, JSON.stringify({ args, env: process.env }) + "\\n");
    if (args[0] === "build") {
      const output = args[args.indexOf("-o") + 1];
      const build = () => {
        if (fs.existsSync(${JSON.stringify(path.join(machine, "held"))})) return setTimeout(build, 50);
        fs.copyFileSync(${JSON.stringify(path.join(machine, "engine"))}, output);
      };
      build();
    }`;
  await install(path.join(bin, "go"), source);
}

async function goBuilds() {
  const lines = (await readFile(path.join(machine, "go.log"), "utf8")).trim().split("\n");
  const calls = lines.map((line): { args: string[]; env: Record<string, string> } => JSON.parse(line));
  return calls.filter(({ args }) => args[0] === "build");
}

/** Runs the tool as a user would. */
function runTool(env: Record<string, string> = {}, tool = TOOL, onStderr: (text: string) => void = () => {}) {
  const environment = {
    PATH: bin,
    HOME: machine,
    XDG_CACHE_HOME: path.join(machine, "cache"),
    NODE_OPTIONS: `--require ${path.join(machine, "network.cjs")}`,
    ...env,
  };
  return new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    const main = path.join(tool, "main.js");
    const child = execFile(process.execPath, [main], { env: environment }, (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr });
    });
    child.stderr?.on("data", onStderr);
  });
}

const cachedEngine = () => path.join(cache, VERSION, "bin/pulumi");
const fromCache = () => `pulumi ${VERSION}, prepared by an earlier run: ${cachedEngine()}\n`;
const built = () => `pulumi ${VERSION}, built now from Pulumi's Go modules: ${cachedEngine()}\n`;

describe("the engine on PATH", () => {
  test("the engine on PATH is used unchanged and reported in one line", async () => {
    await installOfficialEngine(bin, "3.250.1");
    await installGo();
    expect(await runTool()).toEqual({
      exitCode: 0,
      stdout: `pulumi 3.250.1, found on PATH: ${path.join(bin, "pulumi")}\n`,
      stderr: "",
    });
    expect(await readFile(path.join(bin, "pulumi-language-nodejs"), "utf8")).toContain("official");
  });

  test("the engine on PATH is skipped if it is too old", async () => {
    await installOfficialEngine(bin, "3.99.0");
    expect((await runTool()).stderr).toContain(`${bin}/pulumi has version 3.99.0, but 3.227.0 or later is required`);
    await installGo();
    expect((await runTool()).stdout).toBe(built());
  });

  test("the engine on PATH is skipped if it cannot run Node.js programs", async () => {
    await install(path.join(bin, "pulumi"), engineSource("3.250.1"));
    expect((await runTool()).stderr).toContain(`${bin}/pulumi has no pulumi-language-nodejs`);
  });
});

describe("the official download", () => {
  test("the official download is cached with its own launchers, and used from the cache", async () => {
    const official = path.join(machine, "official");
    await installOfficialEngine(official, VERSION);
    // The installer is called with `--no-edit-path --install-root <folder> --version <version>`.
    const installer = `/bin/cp ${official}/* "$3/bin/"`;
    await network(`return new Response(${JSON.stringify(installer)});`);
    expect((await runTool()).stdout).toBe(`pulumi ${VERSION}, downloaded now: ${cachedEngine()}\n`);

    await network("throw new Error('no network');");
    expect(await runTool()).toEqual({ exitCode: 0, stdout: fromCache(), stderr: "" });
    for (const launcher of LAUNCHERS) {
      expect(await readFile(path.join(cache, VERSION, "bin", launcher), "utf8")).toContain("official");
    }
  });
});

describe("the build from Go modules", () => {
  test("the build from Go modules runs only once, prints its steps, and keeps only the engine and its launchers", async () => {
    await installGo();
    const first = await runTool();
    expect(first.stdout).toBe(built());
    expect(first.stderr).toMatch(
      /downloading its Go modules …\npulumi: done in \d+ s\npulumi: compiling it.* …\npulumi: done in \d+ s\n$/,
    );
    expect(await runTool()).toEqual({ exitCode: 0, stdout: fromCache(), stderr: "" });

    expect(await goBuilds()).toHaveLength(1);
    expect(await readdir(cache)).toEqual([VERSION]);
    expect(await readdir(path.join(cache, VERSION))).toEqual(["bin"]);
    const launchers = LAUNCHERS.flatMap((launcher) => [launcher, `${launcher}.cjs`]);
    expect(await readdir(path.join(cache, VERSION, "bin"))).toEqual(["pulumi", ...launchers]);
  });

  test("the build from Go modules ignores the user's Go settings, and verifies its downloads", async () => {
    await installGo();
    await runTool({
      GOFLAGS: "-mod=mod -race",
      GOOS: "plan9",
      GOWORK: "/elsewhere/go.work",
      GOPROXY: "https://mirror",
    });
    const [build] = await goBuilds();
    expect(build?.env).toMatchObject({ GOFLAGS: "-mod=readonly", GOWORK: "off", GOPROXY: "https://mirror" });
    expect(build?.env.GOOS).not.toBe("plan9");
  });

  test("the build from Go modules is done by one of two simultaneous runs while the other one waits", async () => {
    await installGo();
    // The build ends once the other run waits for it.
    const held = path.join(machine, "held");
    await writeFile(held, "");
    const onStderr = (text: string) => {
      if (text.includes("another run is preparing the engine")) void rm(held, { force: true });
    };
    const runs = await Promise.all([runTool({}, TOOL, onStderr), runTool({}, TOOL, onStderr)]);
    expect(runs.map(({ stdout }) => stdout).sort()).toEqual([built(), fromCache()]);
    expect(runs.map(({ stderr }) => stderr).join("")).toContain("another run is preparing the engine");
    expect(await goBuilds()).toHaveLength(1);
  });

  test("the build from Go modules is not blocked by files that a killed run has left", async () => {
    await installGo();
    const lock = path.join(cache, `${VERSION}.lock`);
    await mkdir(lock, { recursive: true });
    await installOfficialEngine(path.join(cache, `${VERSION}.unfinished/build/bin`), "0.0.0");
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(lock, longAgo, longAgo);
    expect((await runTool()).stdout).toBe(built());
    expect(await readdir(cache)).toEqual([VERSION]);
  });

  test("the build from Go modules replaces an engine that does not run", async () => {
    await installGo();
    await install(cachedEngine(), "process.exit(1);");
    expect((await runTool()).stdout).toBe(built());
  });
});

test("when every attempt fails, one error lists the attempts and what to install", async () => {
  const { exitCode, stdout, stderr } = await runTool();
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("pulumi on PATH: there is none");
  expect(stderr).toContain(`an earlier one in ${path.join(cache, VERSION)}: there is none`);
  expect(stderr).toMatch(/the official download: .*no network/);
  expect(stderr).toContain("a build from Pulumi's Go modules: there is no go on PATH");
  expect(stderr).toContain("https://www.pulumi.com/docs/install/");
  expect(stderr).toContain("https://go.dev/dl/");
  expect(await readdir(cache)).toEqual([]);
});

test("an engine still runs programs after the clone that prepared it is deleted", async () => {
  const engine = await ensurePulumi({ log: () => {} });
  await installGo();
  await cp(engine.command, path.join(machine, "engine"));
  const clone = path.join(machine, "clone/tools/pulumi-cli");
  await cp(TOOL, clone, { recursive: true });
  // A clone that is installed and built, as far as the tool asks.
  const files = ["package.json", "tools/requireNode.js", "tools/requireInstalled.js", "dist/cli/main.js"];
  for (const file of [...files, "node_modules/typescript/package.json"])
    await cp(path.resolve(TOOL, "../..", file), path.join(machine, "clone", file));
  // The clone finds the packages of this repository.
  expect((await runTool({}, clone)).stdout).toBe(built());
  await rm(path.join(machine, "clone"), { recursive: true });

  const program = `
    const pulumi = require("@pulumi/pulumi");
    const provider = { create: async () => ({ id: "thing-1" }) };
    new pulumi.dynamic.Resource(provider, "thing", {});`;
  const PATH = [path.dirname(cachedEngine()), process.env.PATH].join(path.delimiter);
  const stack = await createStack({ program, env: { PATH } });
  const { output } = await stack.up();

  expect(output).toContain("2 created");
  expect(output).not.toContain("warning");
});
