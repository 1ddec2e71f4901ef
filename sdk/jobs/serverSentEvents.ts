/** Collects server-sent events from text that arrives in pieces (HTML standard, Server-sent events). */
export interface EventParser {
  /** Reads the next bytes. Returns the data of the events that they complete. */
  push(bytes: Uint8Array): string[];
  /** Returns the data of an event that the end of the text cut off, if there is one. */
  end(): string[];
  /** `true` once there was a line that server-sent events have: a field, or a comment. */
  readonly isEventStream: boolean;
}

/** The fields of an event. Only `data` is used: OpenAI's events have their type in their data. */
const FIELD = /^(data|event|id|retry)?:|^(data|event|id|retry)$/;

/** Makes a parser. `data` in several lines is joined by line breaks, and comments are skipped. */
export function createEventParser(): EventParser {
  // It joins characters whose bytes arrive apart, and drops a byte order mark.
  const decoder = new TextDecoder();
  /** The pieces of the line that has not ended. */
  let line: string[] = [];
  let data: string[] = [];
  let endedWithCr = false;
  let isEventStream = false;

  function readLine(text: string, events: string[]): void {
    if (text === "") {
      if (data.length > 0) events.push(data.join("\n"));
      data = [];
      return;
    }
    isEventStream ||= FIELD.test(text);
    if (text === "data") data.push("");
    else if (text.startsWith("data:")) data.push(text.slice(text[5] === " " ? 6 : 5));
  }

  function read(text: string): string[] {
    const events: string[] = [];
    // The line feed after a carriage return at the end of the last piece belongs to it.
    const rest = endedWithCr && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") endedWithCr = text.endsWith("\r");
    const [first = "", ...others] = rest.split(/\r\n|\n|\r/);
    line.push(first);
    for (const next of others) {
      readLine(line.join(""), events);
      line = [next];
    }
    return events;
  }

  return {
    push: (bytes) => read(decoder.decode(bytes, { stream: true })),
    end: () => read(`${decoder.decode()}\n\n`),
    get isEventStream() {
      return isEventStream;
    },
  };
}
