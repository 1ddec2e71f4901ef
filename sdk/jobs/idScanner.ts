/** Reads JSON that comes in pieces for one thing, and keeps nothing else of it. */
export interface IdScanner {
  /** Reads on. Returns `true` if there is nothing more to learn. */
  push(bytes: Uint8Array): boolean;
  /** The string in the field `id` of the outermost object. `undefined` if it has not come, or is no string. */
  readonly id: string | undefined;
}

/** Longer strings, quotation marks and escapes included, are no ids. */
const LONGEST = 1_300;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Makes a scanner for one body. It checks no grammar beyond what it needs to tell keys from values. */
export function createIdScanner(): IdScanner {
  let id: string | undefined;
  let done = false;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let isKey = true;
  /** The key whose value is read, at the outermost depth. */
  let key: string | undefined;
  /** The bytes of the string that is read, if it matters. */
  let kept: number[] | undefined;

  function endString(): void {
    inString = false;
    if (!kept) return;
    const text = kept.length > LONGEST ? undefined : parsed(Buffer.from([QUOTE, ...kept, QUOTE]).toString("utf8"));
    kept = undefined;
    if (isKey) key = text;
    else finish(text);
  }

  function finish(found?: string): void {
    done = true;
    id = found;
  }

  function inside(byte: number): void {
    if (!escaped && byte === QUOTE) {
      endString();
    } else {
      escaped = !escaped && byte === BACKSLASH;
      if (kept && kept.length <= LONGEST) kept.push(byte);
    }
  }

  /** The index of the quotation mark that ends the string, or the bytes' length. */
  function endOfString(bytes: Uint8Array, from: number): number {
    const start = escaped ? from + 1 : from;
    escaped = false;
    for (let at = start; ; at++) {
      at = bytes.indexOf(QUOTE, at);
      const isCut = at < 0;
      const isEscaped = backslashesBefore(bytes, isCut ? bytes.length : at, start) % 2 === 1;
      if (isCut) escaped = isEscaped;
      if (isCut) return bytes.length;
      if (!isEscaped) return at;
    }
  }

  function outside(byte: number): void {
    if (byte === QUOTE) {
      inString = true;
      if (depth === 0) finish();
      else if (depth === 1 && (isKey || key === "id")) kept = [];
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      const isOutermostList = depth === 0 && byte === OPEN_LIST;
      if (isOutermostList || (depth === 1 && key === "id" && !isKey)) finish();
      depth++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (--depth <= 0) finish();
    } else if (depth === 1 && byte === COLON) {
      isKey = false;
    } else if (depth === 1 && byte === COMMA) {
      // The id was there, and no string.
      if (key === "id") finish();
      isKey = true;
    }
  }

  return {
    push(bytes) {
      for (let at = 0; at < bytes.length && !done; at++) {
        // Nearly all of a large body is in strings that do not matter.
        if (inString && !kept) at = endOfString(bytes, at);
        const byte = bytes[at];
        if (byte === undefined) break;
        if (inString) inside(byte);
        else outside(byte);
      }
      return done;
    },
    get id() {
      return id;
    },
  };
}

/** Finds the id in a body that may be incomplete. */
export function idIn(body: string): string | undefined {
  const scanner = createIdScanner();
  scanner.push(Buffer.from(body));
  return scanner.id;
}

function backslashesBefore(bytes: Uint8Array, end: number, start: number): number {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return end - at;
}

function parsed(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}
