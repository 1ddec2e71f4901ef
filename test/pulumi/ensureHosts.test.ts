import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { SCRATCH } from "./harness";

const TOOL = path.join(REPOSITORY, "tools/pulumi-cli/hosts.js");
const HOSTS = ["yaml", "java", "go", "python"].map((language) => `pulumi-language-${language}`);

/** A separate machine, with an engine and a Go that builds empty files and logs what it builds. */
let machine: string;
/** The folder of the engine in the cache. */
let cached: string;

async function install(file: string, source: string) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!${process.execPath}\n${source}`, { mode: 0o755 });
}

async function installEngine(folder: string) {
  await install(path.join(folder, "pulumi"), 'console.log("v3.230.0");');
  for (const name of ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"])
    await install(path.join(folder, name), "");
}

beforeEach(async () => {
  await mkdir(SCRATCH, { recursive: true });
  machine = await mkdtemp(path.join(SCRATCH, "machine-"));
  cached = path.join(machine, "cache/pulumi-serverless-gpu/pulumi/3.230.0/bin");
  const go = `
    const fs = require("node:fs");
    const args = process.argv.slice(2);
    if (args[0] === "list" && args[1] === "-m") console.log(${JSON.stringify(path.join(machine, "module"))});
    if (args[0] !== "build") return;
    const output = args[args.indexOf("-o") + 1];
    fs.writeFileSync(output, "", { mode: 0o755 });
    fs.appendFileSync(${JSON.stringify(path.join(machine, "built"))}, args.at(-1) + "\\n");`;
  await install(path.join(machine, "bin/go"), go);
  await install(path.join(machine, "module/python/cmd/pulumi-language-python-exec"), "");
});

afterEach(() => rm(machine, { recursive: true, force: true }));

function runTool(bin = path.join(machine, "bin")) {
  const env = { PATH: bin, HOME: machine, XDG_CACHE_HOME: path.join(machine, "cache") };
  return new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [TOOL], { env }, (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

const built = async () => (await readFile(path.join(machine, "built"), "utf8")).trim().split("\n");

test("the language hosts are built once beside the engine, and rebuilt when their sources have changed", async () => {
  await installEngine(cached);
  const first = await runTool();
  expect(first).toMatchObject({ exitCode: 0, stdout: `language hosts: ${cached}\n` });
  for (const name of HOSTS) expect(first.stderr).toContain(`compiling ${name}, once per machine`);
  expect(await readdir(cached)).toEqual(expect.arrayContaining([...HOSTS, "pulumi-language-python-exec"]));
  expect(await readdir(path.dirname(path.dirname(cached)))).toEqual(["3.230.0"]);
  expect(await runTool()).toEqual({ exitCode: 0, stdout: first.stdout, stderr: "" });
  expect(await built()).toEqual([
    "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    "github.com/pulumi/pulumi-java/pkg/cmd/pulumi-language-java",
    ".",
    ".",
  ]);

  await writeFile(path.join(cached, "hosts-built-from"), "other sources");
  await runTool();
  expect(await built()).toHaveLength(8);
});

test("the hosts of an official engine are used unchanged, and missing hosts cause an error", async () => {
  const bin = path.join(machine, "bin");
  await installEngine(bin);
  expect((await runTool()).stderr).toBe(`${bin} does not have all of ${HOSTS.join(", ")}: install the Pulumi CLI\n`);
  for (const name of HOSTS) await install(path.join(bin, name), "");
  expect(await runTool()).toEqual({ exitCode: 0, stdout: `language hosts: ${bin}\n`, stderr: "" });
});
