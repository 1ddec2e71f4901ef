import { systemClock, timeLimit } from "../../sdk/contract/clock";
import { explainWait } from "../../sdk/diagnosis/waits";
import { CodedError, type InputProblem, ServerlessGpuError } from "../../sdk/errors/errors";
import { redactBeginning } from "../../sdk/errors/secretText";
import { connect } from "../connection/connection";
import { cancelled } from "../engine/cancellation";
import { secretFields } from "../engine/forEngine";
import { logChange, waitLogger } from "../engine/log";
import { containsUnknown, type Properties } from "../engine/properties";

/** The inputs of a test that sends a request. */
export const REQUEST_INPUTS = ["path", "method", "body", "expectedStatus", "expectedBody"];

const DEFAULT_STATUS = 200;
const LOG_EVERY_MS = 10_000;
/** The pause before resending a request for which there was no worker, in milliseconds. */
const PAUSE_MS = 1_000;
/**
 * How much of a response's body is read, in bytes, and how much of it an error shows, in
 * characters.
 */
const LONGEST_BODY = 1_000_000;
const LONGEST_SHOWN = 300;

/** Returns the problems with the inputs of a test that sends a request. */
export function requestProblems(inputs: Properties): InputProblem[] {
  const { path, method, expectedStatus, expectedBody } = inputs;
  const wrong = (property: string, isRight: boolean, message: string): InputProblem[] =>
    isRight || inputs[property] === undefined || containsUnknown(inputs[property]) ? [] : [{ property, message }];
  const isStatus =
    Number.isSafeInteger(expectedStatus) && Number(expectedStatus) >= 200 && Number(expectedStatus) <= 599;
  return [
    ...wrong("path", typeof path === "string" && /^\/(?!\/)/.test(path), "must be a path that begins with one slash"),
    ...wrong("method", typeof method === "string" && /^[A-Za-z]+$/.test(method), "must be an HTTP method such as POST"),
    ...wrong("expectedStatus", isStatus, "must be an HTTP status from 200 to 599"),
    ...wrong("expectedBody", typeof expectedBody === "string", "must be a string: a part of the body"),
    ...(path === undefined ? REQUEST_INPUTS : ["input", "expectedOutput", "policy", "s3Config"])
      .filter((property) => inputs[property] !== undefined)
      .map((property) => ({ property, message: path === undefined ? "needs path" : "cannot be combined with path" })),
  ];
}

/** A response with the beginning of its body. */
interface Received {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends a request to a load-balancing endpoint and checks the response. As long as the endpoint has
 * no worker, the request is sent again.
 * @throws SMOKE_TEST if the response is late or not as expected
 */
export async function testRequest(inputs: Properties, timeoutMs: number): Promise<{ status: number; ms: number }> {
  const what = requestName(inputs);
  const startedAt = systemClock.monotonic();
  const elapsedMs = () => systemClock.monotonic() - startedAt;
  const name = `test of endpoint ${inputs.endpointId}`;
  const logWait = waitLogger(name);
  const why = explainWait(connect().client.endpoints, systemClock, String(inputs.endpointId), "jobs", cancelled);
  const tell = () => {
    logWait(`waiting for the response to ${what}`, elapsedMs());
    logChange(name, why.look(elapsedMs()));
  };
  const timer = setInterval(tell, LOG_EVERY_MS);
  const tooLate = () =>
    new CodedError(
      "SMOKE_TEST",
      `there was no response to ${what} within ${timeoutMs / 1000} s. Check that the endpoint's workers start and that ` +
        "/ping returns 200, or set a longer timeout",
    );
  const limit = timeLimit(systemClock, timeoutMs, tooLate, cancelled);
  try {
    const received = await untilServed(inputs, limit.signal);
    assertExpected(what, received, inputs);
    return { status: received.status, ms: Math.round(elapsedMs()) };
  } finally {
    limit.release();
    clearInterval(timer);
    why.end();
  }
}

async function untilServed(inputs: Properties, signal: AbortSignal): Promise<Received> {
  for (;;) {
    try {
      return await send(inputs, signal);
    } catch (error) {
      // The request reached no worker. We compare the code, because the error's class would load
      // the client before it is needed.
      if (!(error instanceof ServerlessGpuError) || error.code !== "NO_WORKER") throw error;
      await pause(signal);
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function send({ endpointId, path, method, body }: Properties, signal: AbortSignal): Promise<Received> {
  const hasBody = body !== undefined;
  const isText = typeof body === "string";
  const response = await connect()
    .client.endpoint(String(endpointId))
    .fetch(String(path), {
      signal,
      method: typeof method === "string" ? method : hasBody ? "POST" : "GET",
      ...(hasBody && { body: isText ? body : JSON.stringify(body) }),
      ...(hasBody && !isText && { headers: { "content-type": "application/json" } }),
    });
  return { status: response.status, body: await beginningOf(response) };
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  while (reader && length < LONGEST_BODY) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  await reader?.cancel();
  return Buffer.concat(chunks).toString().slice(0, LONGEST_BODY);
}

function assertExpected(what: string, { status, body }: Received, inputs: Properties): void {
  const { expectedStatus = DEFAULT_STATUS, expectedBody } = inputs;
  const shownBody = isSecret(inputs)
    ? "not shown: the test has secrets"
    : redactBeginning(body, LONGEST_SHOWN) || "empty";
  if (status !== expectedStatus) {
    throw new CodedError(
      "SMOKE_TEST",
      `the response to ${what} has the status ${status}, not ${expectedStatus}. Check the worker program and ` +
        `expectedStatus.\n  body: ${shownBody}`,
    );
  }
  if (typeof expectedBody !== "string" || body.includes(expectedBody)) return;
  const shown = isSecret(inputs) ? "not shown: the test has secrets" : redactBeginning(expectedBody, LONGEST_SHOWN);
  throw new CodedError(
    "SMOKE_TEST",
    `the body of the response to ${what} does not contain expectedBody. Check the worker program and expectedBody.\n` +
      `  expected: ${shown}\n  body:     ${shownBody}`,
  );
}

/**
 * Returns `true` if the response must not be shown, because it may repeat secrets from the request.
 */
function isSecret(inputs: Properties): boolean {
  return secretFields(inputs).length > 0;
}

/** Returns the words for the request in messages, without the query, which may contain a secret. */
export function requestName(inputs: Properties): string {
  const { endpointId, path, method, body } = inputs;
  const verb = typeof method === "string" ? method.toUpperCase() : body === undefined ? "GET" : "POST";
  const shownPath = secretFields(inputs).includes("path") ? "a secret path" : String(path).split("?", 1)[0];
  return `${verb} ${shownPath} at endpoint ${endpointId}`;
}
