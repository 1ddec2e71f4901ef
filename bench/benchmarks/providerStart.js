const { spawn } = require("node:child_process");
const fs = require("node:fs");
const grpc = require("@grpc/grpc-js");
const { ResourceProviderClient } = require("@pulumi/pulumi/proto/provider_grpc_pb");
const messages = require("@pulumi/pulumi/proto/provider_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");
const { startEmulator } = require("../../dist/emulator");
const { createProgramFolder } = require("../engine");
const { FLOOR_TEXT, INPUTS } = require("../programs");
const { alternate, timed } = require("../runner");

const OUR_TEXT = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").v1;';

/** @param {import("../runner").Settings} settings */
async function run({ quick }) {
  const emulator = await startEmulator({ profile: "contract" });
  const folder = createProgramFolder();
  const engine = await startEngine();
  try {
    const times = await alternate(quick ? 2 : 15, {
      ours: () => {
        emulator.reset();
        return timeToFirstCreate(OUR_TEXT, engine.target, folder, emulator.env);
      },
      floor: () => timeToFirstCreate(FLOOR_TEXT, engine.target, folder),
    });
    return [
      {
        what: "provider process: start to the first create's response",
        unit: "ms",
        ours: times.ours,
        against: "the floor",
        theirs: times.floor,
        judged: "difference",
        mark: { atMost: 100 },
      },
    ];
  } finally {
    fs.rmSync(folder, { recursive: true });
    engine.server.forceShutdown();
    await emulator.stop();
  }
}

/**
 * Starts a server in place of the engine's, because a provider process exits if it cannot reach its
 * engine.
 * @returns {Promise<{ server: grpc.Server, target: string }>}
 */
function startEngine() {
  const server = new grpc.Server();
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve({ server, target: `127.0.0.1:${port}` });
    });
  });
}

/**
 * Starts Pulumi's dynamic-provider process and speaks to it as the engine does, until an endpoint
 * is created.
 * @param {string} provider the string that names it in state
 * @param {string} engine
 * @param {string} cwd
 * @param {Readonly<Record<string, string>>} [env]
 */
async function timeToFirstCreate(provider, engine, cwd, env = {}) {
  const script = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  try {
    return await timed(async () => {
      child = spawn(process.execPath, [script, engine], { cwd, env: { PATH: process.env.PATH, ...env } });
      const client = new ResourceProviderClient(`127.0.0.1:${await portOf(child)}`, grpc.credentials.createInsecure());
      const inputs = Struct.fromJavaScript({ ...INPUTS, name: "endpoint", idleTimeout: 10, __provider: provider });
      const configure = new messages.ConfigureRequest();
      configure.setArgs(Struct.fromJavaScript({}));
      await call(client, "configure", configure);
      const check = new messages.CheckRequest();
      check.setOlds(Struct.fromJavaScript({}));
      check.setNews(inputs);
      const checked = await call(client, "check", check);
      const create = new messages.CreateRequest();
      create.setProperties(checked.getInputs());
      await call(client, "create", create);
      client.close();
    });
  } finally {
    child?.kill();
  }
}

/**
 * The port that the process prints as its first line.
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<string>}
 */
function portOf(child) {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout?.on("data", (chunk) => {
      output += chunk;
      if (output.includes("\n")) resolve(output.trim());
    });
    child.once("exit", () => reject(new Error(`the provider's process ended: ${output}`)));
  });
}

/**
 * @param {any} client
 * @param {"configure" | "check" | "create"} method
 * @param {unknown} request
 * @returns {Promise<any>}
 */
function call(client, method, request) {
  return new Promise((resolve, reject) => {
    client[method](request, (/** @type {Error | null} */ error, /** @type {unknown} */ response) =>
      error ? reject(error) : resolve(response),
    );
  });
}

module.exports = { title: "Pulumi's provider process, from its start", run };
