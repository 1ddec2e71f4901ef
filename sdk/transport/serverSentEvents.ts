import { createParser } from "eventsource-parser";

/** One server-sent event. */
export interface ServerSentEvent {
  /** The event's type, if it has one. */
  readonly event: string | undefined;
  readonly data: string;
  /** The event's id, if it has one. */
  readonly id?: string;
}

/** Collects server-sent events from bytes that arrive in pieces. */
interface EventParser {
  /** Reads the next bytes. Returns the events that are now complete. */
  push(bytes: Uint8Array): ServerSentEvent[];
  /** Returns the event that was cut off by the end of the response, if there is one. */
  end(): ServerSentEvent[];
  /**
   * `true` once a line of a server-sent event was read, or as long as everything read so far could
   * be the beginning of such a line.
   */
  readonly isEventStream: boolean;
}

/** Creates a parser. */
export function createEventParser(): EventParser {
  // The decoder joins characters whose bytes arrive in different pieces, and drops a byte order
  // mark.
  const decoder = new TextDecoder();
  let events: ServerSentEvent[] = [];
  let hasText = false;
  let hasEvents = false;
  let hasOtherLines = false;
  const parser = createParser({
    onEvent({ event, data, id }) {
      hasEvents = true;
      events.push({ event, data, ...(id !== undefined && { id }) });
    },
    onComment() {
      hasEvents = true;
    },
    onError({ type }) {
      if (type === "unknown-field") hasOtherLines = true;
    },
  });

  function read(text: string): ServerSentEvent[] {
    events = [];
    hasText ||= text.trim() !== "";
    parser.feed(text);
    return events;
  }

  return {
    push: (bytes) => read(decoder.decode(bytes, { stream: true })),
    end: () => read(`${decoder.decode()}\n\n`),
    get isEventStream() {
      return hasEvents || (hasText && !hasOtherLines);
    },
  };
}
