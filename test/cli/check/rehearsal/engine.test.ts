import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pulumiIn, reasonOf } from "../../../../cli/check/rehearsal/engine";

// A program as an engine starts it: in a process group of its own, and it does not end.
const PROGRAM = `
require("node:fs").writeFileSync(process.argv[2], String(process.pid));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
setInterval(() => {}, 1000);
`;
const ENGINE = `#!${process.execPath}
require("node:fs").writeFileSync("engine.pid", String(process.pid));
require("node:child_process").spawn(process.execPath, ["program.js", "program.pid"], { detached: true, stdio: "inherit" });
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "engine-test-"));
  writeFileSync(path.join(folder, "program.js"), PROGRAM);
  writeFileSync(path.join(folder, "pulumi"), ENGINE);
  chmodSync(path.join(folder, "pulumi"), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

function isRunning(name: string): boolean {
  const file = path.join(folder, name);
  if (!existsSync(file)) throw new Error(`${name} does not exist`);
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}

test("an engine whose program does not end is stopped at the limit, with the program", async () => {
  const ended = pulumiIn(folder, { PATH: folder }, 2000)(["preview"]);
  await expect(ended).rejects.toThrow("pulumi preview took longer than 2 s and was stopped: the program does not end");
  for (let tries = 0; tries < 100 && (isRunning("engine.pid") || isRunning("program.pid")); tries++) await sleep(20);
  expect([isRunning("engine.pid"), isRunning("program.pid")]).toEqual([false, false]);
});

test("without an engine, the message says so", async () => {
  await expect(pulumiIn(folder, { PATH: "/nowhere" })(["preview"])).rejects.toThrow("there is no pulumi on PATH");
});

test("the reason of a failure names the resource, once for each error", () => {
  const type = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";
  const stdout = `
 ~  ${type} llama updating (0s) [diff: ~workersMax]; error: before hook "check" failed: no
 ~  ${type} llama **updating failed** [diff: ~workersMax]; error: before hook "check" failed: no
    pulumi:pulumi:Stack test-dev running error: update failed
    pulumi:pulumi:Stack test-dev **failed** 1 error; 1 message
Diagnostics:
  ${type} (llama):
    error: before hook "check" failed: no
    error: error: another error
Resources:
    2 errored
`;
  expect(reasonOf({ code: 255, stdout, stderr: "" })).toBe(
    'llama: before hook "check" failed: no; error: another error',
  );
  expect(reasonOf({ code: 255, stdout: "", stderr: "error: preview failed\nTypeError: x is not a function" })).toBe(
    "TypeError: x is not a function",
  );
});
