import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { quoted } from "../../tools/quoted";
import { shellWithEmulator } from "../../tools/shellWithEmulator";
import { REPOSITORY } from "../support/sources";

let clone: string;

beforeAll(() => {
  clone = mkdtempSync(path.join(os.tmpdir(), "clone-"));
  for (const name of ["package.json", "tools"])
    cpSync(path.join(REPOSITORY, name), path.join(clone, name), { recursive: true });
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

const start = (...args: string[]) => spawnSync(process.execPath, args, { cwd: clone, encoding: "utf8" });

const { scripts } = JSON.parse(readFileSync(path.join(REPOSITORY, "package.json"), "utf8"));

test.each([
  "demo",
  "shell",
  "build",
  "build:plugin",
  "pulumi:install",
])("npm run %s in a clone without its packages ends with one helpful line", (script) => {
  const [, file] = /^node (\S+\.js)/.exec(scripts[script]) ?? [];
  const { status, stdout, stderr } = start(String(file));
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: "The packages that this clone needs are not installed. Run npm ci, without --omit=dev\n",
  });
});

test("npm ci --omit=dev runs the build, which reports missing packages before it needs them", () => {
  expect(scripts.prepare).toBe("npm run --silent build");
  expect(scripts.build).toMatch(/^node tools\/requireInstalled\.js && /);
  mkdirSync(path.join(clone, "node_modules/zod"), { recursive: true });
  expect(start("tools/requireInstalled.js")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/without --omit=dev\n$/),
  });
});

test("a clone with packages but without a build names the command that builds it", () => {
  mkdirSync(path.join(clone, "node_modules/typescript"), { recursive: true });
  expect(start("tools/requireInstalled.js")).toMatchObject({ status: 0, stderr: "" });
  const { status, stderr } = start("tools/demo/main.js");
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "The package of this clone is not built. Run npm run build\n",
  });
});

test("npm run shell refuses extra arguments instead of ignoring them", () => {
  mkdirSync(path.join(clone, "dist/cli"), { recursive: true });
  writeFileSync(path.join(clone, "dist/cli/main.js"), "");
  for (const args of [[".", "pulumi", "up"], ["--help"]]) {
    const { status, stderr } = start("tools/shell/main.js", ...args);
    expect({ status, usage: stderr.split("\n")[0] }).toEqual({ status: 2, usage: "Usage: npm run shell [folder]" });
  }
});

test("npm run new and npm run demo name the README's command, which starts an emulator", () => {
  expect(readFileSync(path.join(REPOSITORY, "README.md"), "utf8")).toContain(`\n${shellWithEmulator("../llama")}\n`);
  for (const tool of ["newProject", "demo"]) {
    const text = readFileSync(path.join(REPOSITORY, "tools", tool, "main.js"), "utf8");
    expect(text).not.toContain("npm run shell");
    expect(text).toContain("${shellWithEmulator(");
  }
});

test("the command that npm run new prints can be pasted, whatever the folder is called", () => {
  expect(quoted("../llama")).toBe("../llama");
  for (const folder of ["../a b", "../it's", "../$HOME", "../a&b", "../a\\b"]) {
    const { stdout } = spawnSync("sh", ["-c", `printf %s ${quoted(folder)}`], { encoding: "utf8" });
    expect(stdout).toBe(folder);
  }
  const { status, stderr } = start("tools/shell/main.js", "../a b");
  expect(status).toBe(1);
  expect(stderr).toContain("To make a project: npm run new '../a b'");
});
