import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { nodeProblem, OLDEST_NODE } from "../../sdk/contract/nodeVersion";
import { REPOSITORY } from "../support/sources";

/** Runs a program as an old Node.js would: without what it lacks, and with its version. */
function runOnOldNode(...args: string[]) {
  const pretend = 'delete globalThis.File; Object.defineProperty(process.versions, "node", { value: "18.20.4" });';
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  return spawnSync(process.execPath, ["--import", preload, ...args], { cwd: REPOSITORY, encoding: "utf8" });
}

const COMMAND = "dist/cli/main.js";

test.each([
  ["doctor", [COMMAND, "doctor"]],
  ["emulator exec", [COMMAND, "emulator", "exec", "--", "true"]],
  ["the demo", ["tools/demo/main.js"]],
  ["a new project", ["tools/newProject/main.js", "nowhere"]],
  ["the shell", ["tools/shell/main.js"]],
  ["npm ci, and the build", ["tools/requireInstalled.js"]],
  ["the resources", ["-e", 'require("pulumi-serverless-gpu")']],
  ["the client", ["-e", 'require("pulumi-serverless-gpu/sdk")']],
  ["the emulator", ["-e", 'require("pulumi-serverless-gpu/emulator")']],
  ["the handlers", ["-e", 'require("pulumi-serverless-gpu/handlers")']],
])("%s: an old Node.js is rejected before anything is loaded", (_name, args) => {
  const { status, stdout, stderr } = runOnOldNode(...args);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/Node\.js 20\.19 or later is needed, and this is 18\.20\.4\.\s+Install a newer one: https:/);
});

test("the oldest supported version matches package.json, and later versions are accepted", () => {
  const { engines } = JSON.parse(readFileSync(path.join(REPOSITORY, "package.json"), "utf8"));
  expect(engines.node).toBe(`>=${OLDEST_NODE}`);
  expect(["20.18.3", "18.20.4", "20.19.0", "22.0.0", "26.1.0"].map((each) => nodeProblem(each) === undefined)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
});
