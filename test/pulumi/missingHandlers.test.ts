import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmulator } from "../../emulator";
import { REPOSITORY } from "../support/sources";
import { createStack } from "./harness";

const LIBRARY = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
exports.endpoints = () => {
  for (const name of ["one", "two"]) new ServerlessEndpoint(name, { gpuIds: "AMPERE_16", templateId: "template" });
};
`;

test("a program whose library alone depends on the package is refused with what to install, and deletes nothing", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const parent = await mkdtemp(path.join(tmpdir(), "missing-handlers-"));
  const stack = await createStack({
    parent,
    program: `process.chdir("/");\nrequire("library").endpoints();`,
    env: emulator.env,
  });
  const installed = path.join(stack.folder, "node_modules");
  const ofLibrary = path.join(installed, "library/node_modules");
  await Promise.all([
    mkdir(ofLibrary, { recursive: true }),
    mkdir(path.join(installed, "@pulumi"), { recursive: true }),
  ]);
  await stack.writeFile("node_modules/library/index.js", LIBRARY);
  await symlink(path.join(REPOSITORY, "node_modules/@pulumi/pulumi"), path.join(installed, "@pulumi/pulumi"));
  await symlink(REPOSITORY, path.join(ofLibrary, "pulumi-serverless-gpu"));
  await symlink(REPOSITORY, path.join(installed, "pulumi-serverless-gpu"));
  await stack.succeed(["up", "--yes", "--skip-preview"]);
  expect(emulator.endpoints.list()).toHaveLength(2);

  await rm(path.join(installed, "pulumi-serverless-gpu"));
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('"one": Pulumi cannot load pulumi-serverless-gpu/handlers from');
  expect(output).toContain(`In ${stack.folder}: npm install pulumi-serverless-gpu`);
  expect(output).not.toMatch(/Cannot find module|\n +at /);
  expect(emulator.endpoints.list()).toHaveLength(2);
  await rm(parent, { recursive: true });
});
