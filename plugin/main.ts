import "../sdk/contract/requireNode";

import * as grpc from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { engineAddress, exitWithEngine } from "../provider/engine/exitWithEngine";
import { logTo } from "../provider/engine/log";
import manifest from "./package.json";
import { type PluginRelease, providerService } from "./service";
import { engineLog } from "./wire/engineLog";

/*
 * The provider plugin `pulumi-resource-serverless-gpu`. The engine starts it with the host and port
 * of its own server as the last argument, and reads the port from the first line of its output.
 */

const release: PluginRelease = manifest;
if (process.argv.includes("--version")) {
  console.log(release.version);
  process.exit();
}

exitWithEngine();
const address = engineAddress(process.argv);
if (address !== undefined) {
  logTo(engineLog(address));
}

const server = new grpc.Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(ResourceProviderService, providerService(release));
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(String(port));
});
