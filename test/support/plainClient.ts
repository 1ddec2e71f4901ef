import type { Emulator } from "../../emulator";

/** What an HTTP request was answered, its body as JSON where it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly body: any;
}

/** Sends a request with nothing but `fetch`: the emulator's tests must not depend on this package's client. */
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

/** Sends a GraphQL document as the contract says: the key in the query, a body of the one field `query`. */
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

/** Calls `saveEndpoint` with the input's fields written as GraphQL, `name: "a", workersMin: 1`. */
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
