// Pulumi's language host for Node.js: a gRPC server through which the engine runs a program. The
// engine starts it in the program's folder, with the engine's address as the last argument, and
// reads the port from the first line of its output.
const { spawn } = require("node:child_process");
const { createRequire } = require("node:module");
const path = require("node:path");

/** Exit code of a program that has already reported its errors. */
const EXIT_ERROR_ALREADY_SHOWN = 32;

const engineAddress = String(process.argv.at(-1));

// Loads everything from the program's own packages: this file is in a cache that outlives the clone
// that created it.
const requireFromProgram = createRequire(path.join(process.cwd(), "index.js"));
try {
  requireFromProgram.resolve("@pulumi/pulumi");
} catch {
  console.error(`@pulumi/pulumi is not installed for the program in ${process.cwd()}: run "npm install" there.`);
  process.exit(1);
}
const requireFromPulumi = createRequire(requireFromProgram.resolve("@pulumi/pulumi"));
/** @type {typeof import("@grpc/grpc-js")} */
const grpc = requireFromPulumi("@grpc/grpc-js");
/** @type {typeof import("@pulumi/pulumi/proto/language_pb")} */
const messages = requireFromPulumi("@pulumi/pulumi/proto/language_pb");
/** @type {{ PluginInfo: typeof import("@pulumi/pulumi/proto/plugin_pb").PluginInfo }} */
const { PluginInfo } = requireFromPulumi("@pulumi/pulumi/proto/plugin_pb");
/** @type {{ Empty: typeof import("google-protobuf/google/protobuf/empty_pb").Empty }} */
const { Empty } = requireFromPulumi("google-protobuf/google/protobuf/empty_pb");
const { LanguageRuntimeService } = requireFromPulumi("@pulumi/pulumi/proto/language_grpc_pb");
/** @type {string} */
const version = requireFromPulumi("@pulumi/pulumi/package.json").version;

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

function stopPrograms() {
  for (const program of running) program.kill();
}

/**
 * Returns the runtime's options in `Pulumi.yaml`, as the official host reads them.
 * @param {import("@pulumi/pulumi/proto/language_pb").RunRequest} request
 * @returns {{ typescript?: boolean, tsconfig?: string, nodeargs?: string }}
 */
function runtimeOptions(request) {
  return request.getInfo()?.getOptions()?.toJavaScript() ?? {};
}

/** @param {import("@pulumi/pulumi/proto/language_pb").RunRequest} request */
function programArguments(request) {
  const nodeArguments = (runtimeOptions(request).nodeargs ?? "").split(" ").filter(Boolean);
  return [
    ...nodeArguments,
    requireFromPulumi.resolve("@pulumi/pulumi/cmd/run"),
    `--monitor=${request.getMonitorAddress()}`,
    `--engine=${engineAddress}`,
    `--organization=${request.getOrganization()}`,
    `--project=${request.getProject()}`,
    `--root-directory=${request.getInfo()?.getRootDirectory()}`,
    `--stack=${request.getStack()}`,
    `--pwd=${request.getPwd()}`,
    `--parallel=${request.getParallel()}`,
    ...(request.getDryrun() ? ["--dry-run"] : []),
    request.getInfo()?.getEntryPoint() || request.getProgram(),
    ...request.getArgsList(),
  ];
}

/**
 * @param {import("@pulumi/pulumi/proto/language_pb").RunRequest} request
 * @returns {NodeJS.ProcessEnv}
 */
function programEnvironment(request) {
  const { typescript = true, tsconfig } = runtimeOptions(request);
  return {
    ...process.env,
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().toArray())),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    PULUMI_NODEJS_TYPESCRIPT: String(typescript),
    ...(tsconfig ? { PULUMI_NODEJS_TSCONFIG_PATH: tsconfig } : {}),
  };
}

/**
 * @param
 * {import("@grpc/grpc-js").ServerUnaryCall<import("@pulumi/pulumi/proto/language_pb").RunRequest,
 * unknown>} call
 * @param
 * {import("@grpc/grpc-js").sendUnaryData<import("@pulumi/pulumi/proto/language_pb").RunResponse>}
 * callback
 */
function run({ request }, callback) {
  const program = spawn(process.execPath, programArguments(request), {
    env: programEnvironment(request),
    stdio: ["ignore", "inherit", "inherit"],
  });
  running.add(program);
  program.on("error", (error) => callback(error));
  program.on("exit", (code, signal) => {
    running.delete(program);
    const response = new messages.RunResponse();
    if (code === EXIT_ERROR_ALREADY_SHOWN) response.setBail(true);
    else if (signal) response.setError(`the program was ended by ${signal}`);
    else if (code !== 0) response.setError(`the program exited with code ${code}`);
    callback(null, response);
  });
}

/**
 * Runs a policy pack with the `@pulumi/pulumi` that is installed for the pack. The engine reads its
 * output, of which the first line is a port, and ends it by cancelling the call.
 * @param
 * {import("@grpc/grpc-js").ServerWritableStream<import("@pulumi/pulumi/proto/language_pb").RunPluginRequest,
 * import("@pulumi/pulumi/proto/language_pb").RunPluginResponse>} call
 */
function runPlugin(call) {
  const { request } = call;
  const folder = request.getInfo()?.getProgramDirectory() ?? "";
  /** @param {Uint8Array} chunk */
  const sendError = (chunk) => call.write(new messages.RunPluginResponse().setStderr(chunk));
  /** @param {number | null} code */
  const end = (code) => {
    call.write(new messages.RunPluginResponse().setExitcode(code ?? 1));
    call.end();
  };
  let script;
  try {
    script = createRequire(path.join(folder, "index.js")).resolve("@pulumi/pulumi/cmd/run-policy-pack");
  } catch (error) {
    // The engine knows this error of Node.js, and says that the pack's packages are not installed.
    sendError(Buffer.from(`${error}\n`));
    end(1);
    return;
  }
  const pack = spawn(process.execPath, [script, ...request.getArgsList(), folder], {
    cwd: folder,
    env: { ...process.env, ...variables(request.getEnvList()) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(pack);
  pack.stdout.on("data", (chunk) => call.write(new messages.RunPluginResponse().setStdout(chunk)));
  pack.stderr.on("data", sendError);
  pack.on("close", (code) => {
    running.delete(pack);
    end(code);
  });
  call.on("cancelled", () => pack.kill());
}

/**
 * Returns environment variables from their form `NAME=value`.
 * @param {string[]} list
 * @returns {NodeJS.ProcessEnv}
 */
function variables(list) {
  return Object.fromEntries(list.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]));
}

const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
// Missing methods respond with "unimplemented", which the engine treats as "nothing to do".
server.addService(LanguageRuntimeService, {
  run,
  runPlugin,
  /** Returns the packages with a provider binary to download. A dynamic provider has none. */
  getRequiredPackages: (/** @type {unknown} */ _call, /** @type {Function} */ callback) =>
    callback(null, new messages.GetRequiredPackagesResponse()),
  getProgramDependencies: (/** @type {unknown} */ _call, /** @type {Function} */ callback) =>
    callback(null, new messages.GetProgramDependenciesResponse()),
  getPluginInfo: (/** @type {unknown} */ _call, /** @type {Function} */ callback) =>
    callback(null, new PluginInfo().setVersion(version)),
  about: (/** @type {unknown} */ _call, /** @type {Function} */ callback) =>
    callback(null, new messages.AboutResponse().setExecutable(process.execPath).setVersion(process.version)),
  cancel: (/** @type {unknown} */ _call, /** @type {Function} */ callback) => {
    stopPrograms();
    callback(null, new Empty());
  },
});

process.on("exit", stopPrograms);
// The engine holds the other end, which closes when the engine ends, even if it is killed.
process.stdin.resume().on("end", () => process.exit());

server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(String(port));
});
