import { CodedError, RejectedError, UnexpectedResponseError } from "../errors/errors";
import { redactBeginning } from "../errors/secretText";
import { OpenAiStreamError, OpenAiStreamIncompleteError } from "../jobs/jobErrors";
import { type OutputSchema, parseOutput } from "../jobs/jobOutput";
import { unexpectedResponse } from "../transport/responseErrors";
import { createEventParser, type ServerSentEvent } from "../transport/serverSentEvents";

/** The data of the event that ends a stream of chat completions or completions. */
const DONE = "[DONE]";

/** The types of the events that end the streams of the Responses API and of Anthropic's API. */
const LAST_EVENTS: readonly unknown[] = [
  "response.completed",
  "response.incomplete",
  "response.failed",
  "message_stop",
];

/** The maximum size of an event, in bytes. */
const LARGEST_EVENT = 64 * 1024 * 1024;

const EXCERPT_LENGTH = 200;
const LONGEST_ERROR = 2_000;

/**
 * Yields the JSON of each event in a response. When the iterator ends, the response ends as well,
 * even if no event was read yet.
 * @param operation the name of the request in errors
 */
export function openAiEvents<Event>(
  chunks: AsyncIterable<Uint8Array>,
  operation: string,
  schema: OutputSchema<Event> | undefined,
): AsyncIterableIterator<Event, void, undefined> {
  const bytes = chunks[Symbol.asyncIterator]();
  const events = parsedEvents({ [Symbol.asyncIterator]: () => bytes }, operation, schema);
  return {
    next: () => events.next(),
    async return() {
      await bytes.return?.();
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* parsedEvents<Event>(
  chunks: AsyncIterable<Uint8Array>,
  operation: string,
  schema: OutputSchema<Event> | undefined,
): AsyncGenerator<Event, void, undefined> {
  let eventsRead = 0;
  let isComplete = false;
  const eventOf = async ({ event: type, data }: ServerSentEvent) => {
    if (type === "error") throwErrorEvent(data, operation);
    const event = parsed(data, operation);
    throwIfError(event, operation);
    eventsRead++;
    isComplete = LAST_EVENTS.includes(type) || (isRecord(event) && LAST_EVENTS.includes(event.type));
    return schema ? parseOutput(schema, event, { what: `an event of ${operation}` }) : (event as Event);
  };
  for await (const event of eventsOf(chunks, operation)) {
    if (event.data.trim() === DONE) return;
    yield await eventOf(event);
  }
  if (isComplete) return;
  throw new OpenAiStreamIncompleteError(
    `${operation}: the stream ended without data: [DONE], after ${eventsRead} events, so the rest is missing. The worker ` +
      "may have stopped, or a proxy may have cut the response off",
    eventsRead,
  );
}

/** Yields each event with its type. */
async function* eventsOf(chunks: AsyncIterable<Uint8Array>, operation: string): AsyncGenerator<ServerSentEvent> {
  const parser = createEventParser();
  let beginning: string | undefined;
  let bytesOfEvent = 0;
  for await (const chunk of chunks) {
    beginning ??= Buffer.from(chunk.subarray(0, EXCERPT_LENGTH)).toString();
    bytesOfEvent += chunk.length;
    for (const event of parser.push(chunk)) {
      bytesOfEvent = 0;
      yield event;
    }
    if (bytesOfEvent > LARGEST_EVENT) {
      throw new UnexpectedResponseError(
        `${operation}: an event of the stream is larger than 64 MB, so it was not read`,
      );
    }
  }
  yield* parser.end();
  if (!parser.isEventStream) {
    throw unexpectedResponse(operation, "it is not a stream of server-sent events", beginning ?? "");
  }
}

function parsed(data: string, operation: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // Don't set a cause, because the error from JSON.parse quotes a few characters of the text,
    // which may contain part of a key.
    throw new CodedError(
      "UNREADABLE_RESPONSE",
      `${operation}: an event of the stream is not complete JSON (${redactBeginning(data, EXCERPT_LENGTH)}). The response ` +
        "may have been cut off",
    );
  }
}

/**
 * Throws the error of an event whose type is `error`. The event's data may be any JSON or plain
 * text.
 */
function throwErrorEvent(data: string, operation: string): never {
  let error: unknown;
  try {
    error = JSON.parse(data);
  } catch {
    error = data;
  }
  throwIfError(error, operation);
  throwIfError({ error: isRecord(error) ? error : { message: typeof error === "string" ? error : data } }, operation);
  throw new OpenAiStreamError(`${operation}: the server ended the stream with an error`, {});
}

function throwIfError(event: unknown, operation: string): void {
  const found = errorIn(event);
  if (!found) return;
  throw new OpenAiStreamError(`${operation}: the server ended the stream with an error: ${found.said}`, found.error);
}

/**
 * Throws the error that a response with status 200 contains, if any.
 * @throws RejectedError with the server's message
 */
export function throwIfErrorResponse(response: unknown, operation: string): void {
  const found = errorIn(response);
  if (found) throw new RejectedError(`${operation}: the server responded with status 200 and an error: ${found.said}`);
}

/**
 * Returns the error that an event or a response contains, if any: `{ error: { message, … } }`, `{
 * message, … }` whose type or object is `error`, or RunPod's `{ err, traceback }`.
 */
function errorIn(body: unknown): { readonly error: Record<string, unknown>; readonly said: string } | undefined {
  if (!isRecord(body)) return undefined;
  const isError = [body.type, body.object].includes("error") || (typeof body.err === "string" && "traceback" in body);
  const error = isRecord(body.error) ? body.error : isError ? body : undefined;
  if (!error) return undefined;
  const { message, traceback = error.err } = error;
  // The last line of a traceback says what happened.
  const text =
    typeof message === "string"
      ? message
      : String(traceback ?? "")
          .trim()
          .split("\n")
          .at(-1);
  return { error, said: text ? redactBeginning(text, LONGEST_ERROR) : "without a message" };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
