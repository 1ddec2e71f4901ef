/** Finds the id in JSON that arrives in pieces, and keeps nothing else of it. */
export interface IdScanner {
  /** Reads the next piece. Returns `true` when the search is over. */
  push(bytes: Uint8Array): boolean;
  /**
   * The string or number in the field `id` of the outermost object. `undefined` if it has not
   * arrived, or is neither.
   */
  readonly id: string | undefined;
}

/** The longest id, in bytes of JSON. */
const LONGEST = 1_300;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Makes a scanner for one body. It checks the grammar only as far as needed to distinguish keys
 * from values.
 */
export function createIdScanner(): IdScanner {
  let id: string | undefined;
  let done = false;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let isKey = true;
  /** The current key of the outermost object. */
  let key: string | undefined;
  /** The bytes of the current string, if it is needed. */
  let kept: number[] | undefined;
  /** The id so far, if it is not a string. */
  let digits = "";

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

  /** Returns the index of the quotation mark that ends the string, or the length of the bytes. */
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
      if (--depth <= 0) finish(key === "id" && !isKey ? wholeNumber(digits) : undefined);
    } else if (depth === 1 && byte === COLON) {
      isKey = false;
    } else if (depth === 1 && byte === COMMA) {
      // The id is not a string.
      if (key === "id") finish(wholeNumber(digits));
      isKey = true;
    } else if (depth === 1 && key === "id" && !isKey && byte > SPACE && digits.length <= LONGEST) {
      digits += String.fromCharCode(byte);
    }
  }

  return {
    push(bytes) {
      for (let at = 0; at < bytes.length && !done; at++) {
        // Nearly all of a large body is in strings that are not needed.
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

/** Returns the id in a body that may be incomplete. */
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

/**
 * Returns the digits of a number that is whole and ≥ 0. Not as a number, which would round a long
 * one.
 */
function wholeNumber(digits: string): string | undefined {
  return /^(0|[1-9][0-9]*)$/.test(digits) && digits.length <= LONGEST ? digits : undefined;
}

function parsed(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}
