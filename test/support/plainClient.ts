import type { Emulator } from "../../emulator";

/** A response. Its body is parsed if it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

/**
 * Sends a request with `fetch`, because the tests of the emulator must not depend on the client of
 * this package.
 */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
}

/**
 * Sends a GraphQL document as the contract describes: the key in the query, a body with only the
 * field `query`.
 */
export function graphql({ url, apiKey }: Emulator, query: string, key = apiKey): Promise<Answer> {
  return send(`${url}/graphql?api_key=${encodeURIComponent(key)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
}

/** All fields of the endpoint record that GraphQL shows. */
export const ENDPOINT_FIELDS =
  "id name gpuIds templateId idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax " +
  "networkVolumeId pods { desiredStatus }";

/** Calls `saveEndpoint` with fields written as GraphQL, such as `name: "a", workersMin: 1`. */
export function save(emulator: Emulator, input: string): Promise<Answer> {
  return graphql(emulator, `mutation { saveEndpoint(input: { ${input} }) { ${ENDPOINT_FIELDS} } }`);
}

/** The three fields that `saveEndpoint` requires. */
export const REQUIRED = 'name: "a", gpuIds: "AMPERE_16", templateId: "template-1"';

/** Creates an endpoint through GraphQL and returns its id. */
export async function createEndpoint(emulator: Emulator, more = ""): Promise<string> {
  const { body } = await save(emulator, `${REQUIRED}, ${more}`);
  return body.data.saveEndpoint.id;
}

export function getPod({ url, apiKey }: Emulator, idAndQuery: string, key = apiKey): Promise<Answer> {
  return send(`${url}/v1/pods/${idAndQuery}`, { headers: { authorization: `Bearer ${key}` } });
}

/** Executes one mutation, such as `deleteTemplate(templateName: "a")`. */
export function mutate(emulator: Emulator, mutation: string): Promise<Answer> {
  return graphql(emulator, `mutation { ${mutation} }`);
}

/** Executes a mutation that a rule of the service forbids, and returns the message. */
export async function refusedMutation(emulator: Emulator, mutation: string): Promise<string> {
  const { status, body } = await mutate(emulator, mutation);
  const operation = /^\w+/.exec(mutation)?.[0] ?? "";
  const { message, path, extensions } = body.errors[0];
  expect({ status, data: body.data, path, code: extensions.code }).toEqual({
    status: 200,
    data: { [operation]: null },
    path: [operation],
    code: "RUNPOD",
  });
  return message;
}

/** Executes a mutation that the schema does not allow, and returns the message. */
export async function invalidMutation(emulator: Emulator, mutation: string): Promise<string> {
  const { status, body } = await mutate(emulator, mutation);
  expect([status, body.errors[0].extensions.code]).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
  return body.errors[0].message;
}

/** The fields that `saveTemplate` requires, except `name`. */
export const TEMPLATE_REQUIRED = 'imageName: "me/app:1", dockerArgs: "", containerDiskInGb: 20, volumeInGb: 0';

/** Calls `saveTemplate` for a serverless template, with more fields written as GraphQL. */
export function saveTemplate(emulator: Emulator, name: string, more = "env: []"): Promise<Answer> {
  return mutate(
    emulator,
    `saveTemplate(input: { name: "${name}", ${TEMPLATE_REQUIRED}, isServerless: true, ${more} }) { id }`,
  );
}

/** Calls the control interface as another process would. */
export function callControl(
  { url }: Emulator,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(`${url}/_emulator/${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
}
