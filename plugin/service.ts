import type * as grpc from "@grpc/grpc-js";
import type * as pulumi from "@pulumi/pulumi";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { cancel } from "../provider/engine/cancellation";
import { withoutProperty } from "../provider/engine/forEngine";
import { ignoredScheduleProblem } from "../provider/engine/inputWarnings";
import type { Properties } from "../provider/engine/properties";
import { InvalidInputError } from "../sdk/errors/errors";
import { redact } from "../sdk/errors/secretText";
import {
  configProblems,
  configureProvider,
  sayConnection,
  warnOfConfiguration,
  warnOfUnknownSettings,
} from "./configuration";
import { diffResponse } from "./diffResponse";
import { FUNCTIONS } from "./functions";
import { create, previewedCreate, previewedUpdate, update } from "./resources/changes";
import { checkInputs } from "./resources/check";
import { diff } from "./resources/diff";
import { read } from "./resources/read";
import type { PluginResource } from "./resources/resource";
import { RESOURCES } from "./resources/resources";
import { withTimeout } from "./resources/timeouts";
import schema from "./schema.json";
import { loggingFor } from "./wire/engineLog";
import { toStatus } from "./wire/failures";
import { receive, toWire } from "./wire/properties";

/** A request about one resource. */
interface ResourceRequest {
  getUrn(): string;
  getType(): string;
}

/** A release, as described by the plugin's package.json. */
export interface PluginRelease {
  readonly version: string;
  /** Where the engine can download the release archives. The release workflow sets it. */
  readonly pluginDownloadURL?: string;
}

/**
 * Adds the URL of the publishing repository to the schema. Registries display it. A build outside
 * of a release has none.
 */
function publishedAt(pluginDownloadURL: string | undefined): Record<string, string> {
  if (pluginDownloadURL === undefined) return {};
  const [, place] = /^github:\/\/api\.github\.com\/([^/]+\/[^/]+)$/.exec(pluginDownloadURL) ?? [];
  if (place === undefined) return { pluginDownloadURL };
  const repository = `https://github.com/${place}`;
  const logoUrl = `https://raw.githubusercontent.com/${place}/main/docs/images/logo.svg`;
  return { pluginDownloadURL, homepage: repository, repository, logoUrl };
}

/**
 * Returns the RPCs of a resource provider (pulumirpc). The engine treats missing ones as not
 * needed.
 */
export function providerService({ version, pluginDownloadURL }: PluginRelease): grpc.UntypedServiceImplementation {
  return {
    handshake: unary(async () =>
      new messages.ProviderHandshakeResponse().setAcceptSecrets(true).setSupportsAutonamingConfiguration(true),
    ),
    getPluginInfo: unary(async () => new PluginInfo().setVersion(version)),
    getSchema: unary(async () =>
      new messages.GetSchemaResponse().setSchema(
        JSON.stringify({ ...schema, version, ...publishedAt(pluginDownloadURL) }),
      ),
    ),
    checkConfig: unary(checkConfig),
    configure: unary(configure),
    invoke: unary(invoke),
    check: unary(ofResource(checkResource)),
    diff: unary(ofResource(diffResource)),
    create: unary(ofResource(createResource), (request: messages.CreateRequest) => request.getProperties()),
    read: unary(ofResource(readResource)),
    update: unary(ofResource(updateResource), (request: messages.UpdateRequest) => request.getNews()),
    delete: unary(ofResource(deleteResource)),
    cancel: unary(async () => {
      cancel();
      return new Empty();
    }),
  };
}

/**
 * Returns a unary RPC.
 * @param sentBack returns the request properties that an initialization failure returns, so that
 * secrets among them stay secret
 */
function unary<Request, Response>(
  respond: (request: Request) => Promise<Response>,
  sentBack?: (request: Request) => Struct | undefined,
): grpc.handleUnaryCall<Request, Response> {
  return ({ request }, callback) => {
    respond(request).then(
      (response) => callback(null, response),
      (error: unknown) => callback(toStatus(error, receive(sentBack?.(request)).secrets)),
    );
  };
}

/** Returns a method that finds the resource's kind and associates log lines with the resource. */
function ofResource<Request extends ResourceRequest, Response>(
  respond: (resource: PluginResource, request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const resource = RESOURCES.get(request.getType());
    if (!resource) throw new Error(`there is no resource of the type ${request.getType()}`);
    return loggingFor(request.getUrn(), () => respond(resource, request));
  };
}

async function checkConfig(request: messages.CheckRequest): Promise<messages.CheckResponse> {
  const { properties, secrets } = receive(request.getNews());
  const failures = configProblems(request.getName(), properties);
  await loggingFor(request.getUrn(), async () => warnOfUnknownSettings(request.getName(), properties));
  return new messages.CheckResponse()
    .setInputs(toWire(properties, [...secrets, "apiKey"]))
    .setFailuresList(failures.map(failure));
}

async function configure(request: messages.ConfigureRequest): Promise<messages.ConfigureResponse> {
  await configureProvider(request.getName() ?? "", new Map(request.getVariablesMap().toArray()));
  return new messages.ConfigureResponse()
    .setAcceptsecrets(true)
    .setSupportspreview(true)
    .setSupportsAutonamingConfiguration(true);
}

async function invoke(request: messages.InvokeRequest): Promise<messages.InvokeResponse> {
  const called = FUNCTIONS.get(request.getTok());
  if (!called) throw new Error(`there is no function ${request.getTok()}`);
  const result = await loggingFor("", () => called.call(receive(request.getArgs()).properties));
  return new messages.InvokeResponse().setReturn(toWire(result, called.secrets));
}

async function checkResource(resource: PluginResource, request: messages.CheckRequest) {
  const subject = {
    urn: request.getUrn(),
    logicalName: request.getName(),
    autonaming: request.getAutonaming()?.toObject(),
  };
  const olds = receive(request.getOlds()).properties;
  const { inputs, failures, secrets } = await checkInputs(resource, subject, olds, receive(request.getNews()));
  return new messages.CheckResponse().setInputs(toWire(inputs, secrets)).setFailuresList(failures.map(failure));
}

/** Converts a check failure to the engine's format. */
function failure(found: pulumi.dynamic.CheckFailure): messages.CheckFailure {
  const { property, reason } = withoutProperty(found);
  return new messages.CheckFailure().setProperty(property).setReason(redact(reason));
}

async function diffResource(resource: PluginResource, request: messages.DiffRequest) {
  const [outputs, oldInputs, inputs] = [request.getOlds(), request.getOldInputs(), request.getNews()].map(
    (struct) => receive(struct).properties,
  ) as [Properties, Properties, Properties];
  refuseIgnored(request.getId(), inputs, request.getIgnorechangesList());
  return diffResponse(await diff(resource, request.getId(), outputs, oldInputs, inputs));
}

/** The program's own options are told to these two calls only. */
function refuseIgnored(id: string, inputs: Properties, ignoreChanges: readonly string[]): void {
  const [message] = ignoredScheduleProblem(inputs, ignoreChanges);
  if (message !== undefined) throw new InvalidInputError(`endpoint ${id}`, [{ property: "", message }]);
}

async function createResource(resource: PluginResource, request: messages.CreateRequest) {
  const { properties, secrets } = receive(request.getProperties());
  if (request.getPreview()) {
    warnOfConfiguration();
    await resource.previewAdoption?.(properties, secrets);
    return new messages.CreateResponse().setProperties(toWire(previewedCreate(resource, properties), secrets));
  }
  sayConnection();
  const { id, outputs } = await create(resource, properties, request.getTimeout());
  return new messages.CreateResponse().setId(id).setProperties(toWire(outputs, secrets));
}

async function readResource(resource: PluginResource, request: messages.ReadRequest) {
  const [outputs, inputs] = [receive(request.getProperties()), receive(request.getInputs())];
  const found = await read(resource, request.getId(), outputs.properties, inputs.properties);
  // A response without an id tells the engine that the resource is gone.
  if (!found) return new messages.ReadResponse();
  const secrets = [...outputs.secrets, ...inputs.secrets, ...(resource.secretInputs?.(found.inputs) ?? [])];
  return new messages.ReadResponse()
    .setId(request.getId())
    .setProperties(toWire(found.outputs, secrets))
    .setInputs(toWire(found.inputs, secrets));
}

async function updateResource(resource: PluginResource, request: messages.UpdateRequest) {
  const [outputs, oldInputs] = [receive(request.getOlds()).properties, receive(request.getOldInputs()).properties];
  const { properties, secrets } = receive(request.getNews());
  refuseIgnored(request.getId(), properties, request.getIgnorechangesList());
  if (!request.getPreview()) sayConnection();
  const updated = request.getPreview()
    ? previewedUpdate(resource, request.getId(), outputs, properties)
    : await update(resource, request.getId(), outputs, oldInputs, properties, request.getTimeout());
  return new messages.UpdateResponse().setProperties(toWire(updated, secrets));
}

async function deleteResource(resource: PluginResource, request: messages.DeleteRequest) {
  sayConnection();
  const outputs = receive(request.getProperties()).properties;
  const limited = withTimeout(resource.timeouts.delete, outputs, request.getTimeout());
  await resource.handlers.delete?.(request.getId(), limited.properties);
  return new Empty();
}
