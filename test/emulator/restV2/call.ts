import type { Emulator } from "../../../emulator";

/** A response of REST v2. */
export interface V2Response {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare any part of any body.
  readonly body: any;
}

/** Sends a request to REST v2 with plain HTTP. */
export async function callV2(
  { url, apiKey }: Emulator,
  method: string,
  path: string,
  body?: unknown,
  key: string | null = apiKey,
): Promise<V2Response> {
  const response = await fetch(`${url}/v2${path}`, {
    method,
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }), "content-type": "application/json" },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

/** The body of a new endpoint. */
export const NEW_ENDPOINT = {
  name: "llama",
  type: "QUEUE",
  templateId: "tpl1",
  gpu: { pools: ["AMPERE_24", "ADA_24"], excludedTypes: ["NVIDIA L4"], count: 1 },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  workers: { min: 0, max: 3, idleTimeout: 5 },
};
