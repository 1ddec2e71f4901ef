import type { HttpRequest, HttpResponse } from "../io/http";

/** A message's headers and body, for people to read. */
export interface Message {
  /** Headers by name. Keys, cookies and other credentials are replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The beginning of the body, in which passwords, variables and other secrets are replaced by
   * `[redacted]`. `undefined` if it was not kept, as for streams and requests to load-balancing
   * endpoints.
   */
  readonly body?: string | undefined;
  /** `true` if the body was longer. */
  readonly isCut?: true | undefined;
}

/** A request and its response as they were sent. */
export interface Exchange {
  readonly request: Message;
  /** `undefined` until there is a response, and after the connection was cut. */
  readonly response?: Message | undefined;
}

/** How many of the latest requests are kept completely. */
const KEPT = 500;
/** How much of a body is kept, in bytes or characters. */
const LONGEST_BODY = 10_000;

const REDACTED = "[redacted]";
const SECRET_HEADERS = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];
/** Properties whose values are hidden at any depth. */
const SECRET_PROPERTIES = /^(env|password|value|accessSecret|aiKey|apiKey|cloudStorageConfig)$/;

/** Matches the values of variables and passwords in a GraphQL document, even in an invalid one. */
const SECRET_LITERALS = /(\b(?:value|password)\s*:\s*)("""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?)/g;

/** A stored exchange. It is redacted when it is read, because most are never read. */
interface Kept {
  readonly number: number;
  readonly request: HttpRequest["headers"];
  readonly body: Buffer | undefined;
  readonly isCut: boolean;
  response:
    | (Pick<HttpResponse, "headers"> & { readonly body: string | undefined; readonly isCut: boolean })
    | undefined;
}

/** The latest requests and responses, by request number. */
interface Exchanges {
  begin(number: number, request: HttpRequest): void;
  end(number: number, response: HttpResponse): void;
  /**
   * Returns an exchange; `undefined` if it is no longer kept.
   * @param secrets further texts to redact in the request
   */
  find(number: number, secrets: readonly string[]): Exchange | undefined;
  clear(): void;
}

/** @param scrub replaces the emulator's keys */
export function createExchanges(scrub: (text: string) => string): Exchanges {
  // Each exchange replaces the one from 500 requests before. A `Map` would keep deleted exchanges
  // in memory until the next full garbage collection.
  const kept: Kept[] = [];

  function find(number: number): Kept | undefined {
    const exchange = kept[number % KEPT];
    return exchange?.number === number ? exchange : undefined;
  }

  function shown(headers: object, body: string | undefined, isCut: boolean, secrets: readonly string[]): Message {
    const fields = Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADERS.includes(name.toLowerCase()) ? REDACTED : scrub(String(value)),
    ]);
    const text =
      body && scrub(secrets.reduce((left, secret) => left.replaceAll(secret, REDACTED), withoutSecrets(body)));
    return { headers: Object.fromEntries(fields), body: text, ...(isCut && { isCut: true }) };
  }

  return {
    begin(number, { headers, body, passed }) {
      const isCut = body.length > LONGEST_BODY;
      // A slice of the buffer would keep the whole buffer in memory.
      const beginning = isCut ? Buffer.from(body.subarray(0, LONGEST_BODY)) : body;
      kept[number % KEPT] = {
        number,
        request: headers,
        body: passed ? undefined : beginning,
        isCut,
        response: undefined,
      };
    },
    end(number, { headers, body }) {
      const exchange = find(number);
      if (!exchange) return;
      const isCut = typeof body === "string" && body.length > LONGEST_BODY;
      // A slice of the string would keep the whole string in memory.
      const beginning = isCut ? Buffer.from(body.slice(0, LONGEST_BODY)).toString() : body;
      exchange.response = { headers, body: typeof beginning === "string" ? beginning : undefined, isCut };
    },
    find(number, secrets) {
      const exchange = find(number);
      if (!exchange) return undefined;
      const { request, body, isCut, response } = exchange;
      return {
        request: shown(request, body?.toString(), isCut, secrets),
        ...(response && { response: shown(response.headers, response.body, response.isCut, []) }),
      };
    },
    clear() {
      kept.length = 0;
    },
  };
}

/**
 * Redacts secret values in a body. If the body is not complete JSON, everything after the name of a
 * secret property is removed.
 */
function withoutSecrets(body: string): string {
  try {
    const value: unknown = JSON.parse(body, (name, each) => {
      // Its query may contain a token.
      if (name === "webhook" && typeof each === "string") return each.replace(/\?.*$/s, `?${REDACTED}`);
      if (name === "query" && typeof each === "string") return each.replace(SECRET_LITERALS, `$1"${REDACTED}"`);
      return SECRET_PROPERTIES.test(name) ? hidden(each) : each;
    });
    return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : body;
  } catch {
    return body.replace(
      /("(?:env|webhook|password|value|accessSecret|aiKey|apiKey|cloudStorageConfig)"\s*:).*$/s,
      `$1 ${REDACTED}`,
    );
  }
}

/** Hides the values of variables, but not their names. */
function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hiddenVariable);
  if (typeof value !== "object" || value === null) return value === null ? null : REDACTED;
  return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
}

function hiddenVariable(variable: unknown): unknown {
  return typeof variable === "object" && variable !== null && "key" in variable
    ? { key: variable.key, value: REDACTED }
    : REDACTED;
}
