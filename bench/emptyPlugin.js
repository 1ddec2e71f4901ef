// A provider plugin that does nothing, in Node.js: the cost of the engine, of gRPC and of this
// runtime without us. It is bundled like ours, because loading many files takes longer.
const fs = require("node:fs");
const path = require("node:path");
const { buildSync } = require("esbuild");

const SOURCE = `
const grpc = require("@grpc/grpc-js");
const { PluginInfo } = require("@pulumi/pulumi/proto/plugin_pb");
const messages = require("@pulumi/pulumi/proto/provider_pb");
const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");

let created = 0;
const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
const textOf = (struct) => JSON.stringify(struct?.toJavaScript());
const methods = {
  handshake: () => new messages.ProviderHandshakeResponse().setAcceptSecrets(true),
  getPluginInfo: () => new PluginInfo().setVersion("0.1.0"),
  checkConfig: (request) => new messages.CheckResponse().setInputs(request.getNews()),
  configure: () => new messages.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true),
  check: (request) => new messages.CheckResponse().setInputs(request.getNews()),
  diff: (request) =>
    new messages.DiffResponse().setChanges(
      textOf(request.getOldInputs()) === textOf(request.getNews()) ? DIFF_NONE : DIFF_SOME,
    ),
  create: (request) =>
    new messages.CreateResponse().setId("endpoint-" + ++created).setProperties(request.getProperties()),
  read: (request) =>
    new messages.ReadResponse()
      .setId(request.getId())
      .setInputs(request.getInputs())
      .setProperties(request.getProperties()),
  update: (request) => new messages.UpdateResponse().setProperties(request.getNews()),
  delete: () => new Empty(),
  cancel: () => new Empty(),
};
const unary = (method) => ({ request }, callback) => callback(null, method(request));
const service = Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, unary(method)]));

const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(ResourceProviderService, service);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(String(port));
});
`;

/**
 * Builds the plugin, under the name of ours, and returns its folder.
 * @param {string} folder where to put it
 */
function buildEmptyPlugin(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "pulumi-resource-serverless-gpu");
  buildSync({
    stdin: { contents: SOURCE, resolveDir: __dirname },
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: "#!/usr/bin/env node" },
    logLevel: "warning",
  });
  fs.chmodSync(file, 0o755);
  return folder;
}

module.exports = { buildEmptyPlugin };
