import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { parse, visit } from "graphql";
import type { Emulator } from "../../emulator";

/**
 * The GraphQL fields that at least one public client selects: RunPod's Python library and command
 * line, its Pulumi providers, and the contract's own examples (2026-11).
 */
const PUBLIC_FIELDS = new Set(
  `myself endpoints endpoint podTemplates podTemplate networkVolumes containerRegistryCreds secrets
   saveEndpoint deleteEndpoint saveTemplate deleteTemplate createNetworkVolume updateNetworkVolume deleteNetworkVolume
   saveRegistryAuth updateRegistryAuth deleteRegistryAuth secretCreate secretValueUpdate secretDescriptionUpdate
   secretDelete
   id name gpuIds templateId idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax
   networkVolumeId networkVolumeIds dataCenterId gpuCount instanceIds allowedCudaVersions minCudaVersion
   executionTimeoutMs flashEnvironmentId type version pods desiredStatus slsVersion env key value
   imageName dockerArgs containerDiskInGb containerRegistryAuthId volumeInGb volumeMountPath ports readme isServerless
   isPublic startSsh startJupyter size storageType description createdAt updatedAt
   username password isNextGenStorage uptimeSeconds __typename`.split(/\s+/),
);

/**
 * Starts a service in front of an emulator that rejects every GraphQL document with a field that no
 * public client selects, in the way that RunPod does. Returns its URL and the rejected fields.
 */
export async function startStrictService({ url }: Emulator) {
  const refused = new Set<string>();
  const server = createServer(async (incoming, outgoing) => {
    const body = await textOf(incoming);
    const unknown = incoming.url?.startsWith("/graphql") ? unknownFields(body) : [];
    for (const field of unknown) refused.add(field);
    const response =
      unknown.length > 0
        ? Response.json({ errors: unknown.map(refusalOf) }, { status: 400 })
        : await fetch(url + incoming.url, {
            method: incoming.method ?? "GET",
            headers: headersOf(incoming),
            ...(body && { body }),
          });
    outgoing.writeHead(response.status, { "content-type": response.headers.get("content-type") ?? "" });
    outgoing.end(await response.text());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const { authorization, "content-type": type } = headers;
  return { ...(authorization !== undefined && { authorization }), ...(type !== undefined && { "content-type": type }) };
}

/** Returns the fields of the document, its input included, that no public client uses. */
function unknownFields(body: string): string[] {
  const fields: string[] = [];
  const note = ({ name }: { readonly name: { readonly value: string } }) => {
    if (!PUBLIC_FIELDS.has(name.value)) fields.push(name.value);
  };
  visit(parse(JSON.parse(body).query), { Field: note, ObjectField: note });
  return fields;
}

function refusalOf(field: string) {
  const message = `Cannot query field "${field}" on type "Record".`;
  return { message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } };
}
