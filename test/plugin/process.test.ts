import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { startEmulator } from "../../emulator";
import schema from "../../plugin/schema.json";
import { call } from "../support/dynamicProvider";
import { PLUGIN_FOLDER, startPlugin } from "../support/plugin";

function packageAt(folder: string) {
  return JSON.parse(readFileSync(path.resolve(__dirname, "../..", folder, "package.json"), "utf8"));
}

test("the plugin exits when the engine that started it ends", async () => {
  await using plugin = await startPlugin({});
  const ended = new Promise((resolve) => plugin.process.once("exit", resolve));
  plugin.engine.forceShutdown();
  expect(await ended).toBe(1);
});

test("the plugin declares the version and the schema of this package, and no dependencies", async () => {
  await using plugin = await startPlugin({});
  const { version, license } = packageAt(".");
  expect(packageAt("plugin")).toMatchObject({ version, license });
  expect(packageAt("plugin")).not.toHaveProperty("dependencies");
  const info = await call<PluginInfo>(plugin.client.getPluginInfo.bind(plugin.client), new Empty());
  expect(info.getVersion()).toBe(version);
  const request = new messages.GetSchemaRequest();
  const response = await call<messages.GetSchemaResponse>(plugin.client.getSchema.bind(plugin.client), request);
  const isSame = isDeepStrictEqual(JSON.parse(response.getSchema()), { ...schema, version });
  expect(isSame ? "" : "plugin/bin is older than plugin/schema.json: run npm run build:plugin").toBe("");
  expect(packageAt(".")).not.toHaveProperty("pulumi");
});

test("--version prints the version and exits, even when npm runs it", async () => {
  const { version } = packageAt("plugin");
  for (const file of ["pulumi-resource-serverless-gpu", "npm-bin"]) {
    const { stdout } = await promisify(execFile)(path.join(PLUGIN_FOLDER, file), ["--version"]);
    expect(stdout).toBe(`${version}\n`);
  }
});

test("the plugin says what to install if Node.js is not on PATH", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "no-node-"));
  const started = promisify(execFile)(path.join(PLUGIN_FOLDER, "pulumi-resource-serverless-gpu"), [], {
    env: { PATH: folder },
  });
  await expect(started).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/needs Node\.js 20\.19 or later on PATH, and found none\. Install it from/),
  });
  await rm(folder, { recursive: true });
});

test("the plugin is a single, self-contained file", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const folder = await mkdtemp(path.join(tmpdir(), "serverless-gpu-plugin-"));
  try {
    const name = "pulumi-resource-serverless-gpu";
    await copyFile(path.join(PLUGIN_FOLDER, name), path.join(folder, name));
    await using plugin = await startPlugin(emulator.env, { folder });
    const one = { kind: "ServerlessEndpoint" };
    const { inputs } = await plugin.check(one, { gpuIds: ["ADA_24"], templateId: "template" });
    const { id, outputs } = await plugin.create(one, inputs);
    await plugin.delete(one, id, outputs);
    expect(emulator.endpoints.list()).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
