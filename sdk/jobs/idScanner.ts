/** The maximum length of an id, in bytes of JSON. */
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
 * Finds the id in a JSON body that arrives in pieces, without keeping the rest of the body. It
 * parses the JSON only as far as necessary to tell keys from values.
 */
export class IdScanner {
  #id: string | undefined;
  #done = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #isKey = true;
  /** The current key in the outermost object. */
  #key: string | undefined;
  /** The bytes of the current string, if the string is needed. */
  #kept: number[] | undefined;
  /** The part of the id read so far, if the id is not a string. */
  #digits = "";

  /** Reads the next piece. Returns `true` when the search is complete. */
  push(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length && !this.#done; at++) {
      // Skip strings that are not needed. They make up nearly all of a large body.
      if (this.#inString && !this.#kept) at = this.#endOfString(bytes, at);
      const byte = bytes[at];
      if (byte === undefined) break;
      if (this.#inString) this.#inside(byte);
      else this.#outside(byte);
    }
    return this.#done;
  }

  /**
   * The string or number in the field `id` of the outermost object. `undefined` if the field has
   * not arrived yet, or if it contains neither a string nor a number.
   */
  get id(): string | undefined {
    return this.#id;
  }

  #endString(): void {
    this.#inString = false;
    if (!this.#kept) return;
    const text =
      this.#kept.length > LONGEST ? undefined : parsed(Buffer.from([QUOTE, ...this.#kept, QUOTE]).toString("utf8"));
    this.#kept = undefined;
    if (this.#isKey) this.#key = text;
    else this.#finish(text);
  }

  #finish(found?: string): void {
    this.#done = true;
    this.#id = found;
  }

  #inside(byte: number): void {
    if (!this.#escaped && byte === QUOTE) {
      this.#endString();
    } else {
      this.#escaped = !this.#escaped && byte === BACKSLASH;
      if (this.#kept && this.#kept.length <= LONGEST) this.#kept.push(byte);
    }
  }

  /**
   * Returns the index of the quotation mark that ends the string, or the number of bytes if there
   * is none.
   */
  #endOfString(bytes: Uint8Array, from: number): number {
    const start = this.#escaped ? from + 1 : from;
    this.#escaped = false;
    for (let at = start; ; at++) {
      at = bytes.indexOf(QUOTE, at);
      const isCut = at < 0;
      const isEscaped = backslashesBefore(bytes, isCut ? bytes.length : at, start) % 2 === 1;
      if (isCut) this.#escaped = isEscaped;
      if (isCut) return bytes.length;
      if (!isEscaped) return at;
    }
  }

  #outside(byte: number): void {
    if (byte === QUOTE) {
      this.#inString = true;
      if (this.#depth === 0) this.#finish();
      else if (this.#depth === 1 && (this.#isKey || this.#key === "id")) this.#kept = [];
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      const isOutermostList = this.#depth === 0 && byte === OPEN_LIST;
      if (isOutermostList || (this.#depth === 1 && this.#key === "id" && !this.#isKey)) this.#finish();
      this.#depth++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (--this.#depth <= 0) this.#finish(this.#key === "id" && !this.#isKey ? wholeNumber(this.#digits) : undefined);
    } else if (this.#depth === 1 && byte === COLON) {
      this.#isKey = false;
    } else if (this.#depth === 1 && byte === COMMA) {
      // If the id is not a string, it ends here.
      if (this.#key === "id") this.#finish(wholeNumber(this.#digits));
      this.#isKey = true;
    } else if (
      this.#depth === 1 &&
      this.#key === "id" &&
      !this.#isKey &&
      byte > SPACE &&
      this.#digits.length <= LONGEST
    ) {
      this.#digits += String.fromCharCode(byte);
    }
  }
}

/** Returns the id in a body that may be incomplete. */
export function idIn(body: string): string | undefined {
  const scanner = new IdScanner();
  scanner.push(Buffer.from(body));
  return scanner.id;
}

function backslashesBefore(bytes: Uint8Array, end: number, start: number): number {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return end - at;
}

/**
 * Returns the digits of a whole number ≥ 0. The result is a string, because converting a long
 * number would round it.
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
