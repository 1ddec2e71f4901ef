import type { Emulator } from "../../emulator";

/** A response. Its body is parsed if it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

/** Sends a request with `fetch`, because the tests of the emulator must not depend on the client of this package. */
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

/** Sends a GraphQL document as the contract describes: the key in the query, a body with only the field `query`. */
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
