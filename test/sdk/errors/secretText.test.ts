import { inspect } from "node:util";
import fc from "fast-check";
import { createClient } from "../../../sdk/client/client";
import { ConnectionError, CreateUncertainError, InvalidInputError, NotFoundError } from "../../../sdk/errors/errors";
import { hideJobSecret, redact, redactBeginning, SecretText } from "../../../sdk/errors/secretText";
import { JobNotRetryableError, WebhookNotConfirmedError } from "../../../sdk/jobs/jobErrors";
import { unexpectedResponse } from "../../../sdk/transport/responseErrors";
import { createWebhookReceiver } from "../../../sdk/webhooks/webhookReceiver";

/** Holds every character that some encoding changes. */
const CANARY = `canary'key"with/odd\\chars&more=1%2+~!`;
const secret = new SecretText(CANARY);

/** The encodings of the canary in requests, each with its surroundings. */
const FORMS: Record<string, string> = {
  raw: `sent ${CANARY} away`,
  "URL-encoded": `https://host/graphql?api_key=${encodeURIComponent(CANARY)}&x=1`,
  "in a URL's href": new URL(`https://host/graphql?api_key=${encodeURIComponent(CANARY)}`).href,
  "encoded as a form": new URLSearchParams({ key: CANARY }).toString(),
  JSON: JSON.stringify({ key: CANARY }),
  "JSON within JSON": JSON.stringify(JSON.stringify({ key: CANARY })),
  "Bearer header": `Authorization: Bearer ${CANARY}`,
  "bare header": `authorization: ${CANARY}`,
  inspected: inspect({ headers: { authorization: CANARY } }),
};

/** Long pieces of the canary, whatever encoding they were in. */
function leaks(text: string): boolean {
  return text.includes("canary") || /with(\/|%2F)odd/i.test(text);
}

describe("a string with a known key", () => {
  test.each(Object.entries(FORMS))("a string with a known key is redacted: %s", (_form, text) => {
    expect(leaks(text)).toBe(true);
    expect(leaks(redact(text))).toBe(false);
    expect(redact(text)).toContain("[redacted]");
  });

  test("a string with a known key keeps everything except the key", () => {
    expect(redact(`before ${CANARY}, after`)).toBe("before [redacted], after");
  });

  test("a string with a known key is redacted completely if the key begins with another key", () => {
    new SecretText("prefix-key");
    new SecretText("prefix-key-and-more");
    expect(redact("it is prefix-key-and-more.")).toBe("it is [redacted].");
  });

  test("a string with a known key is redacted wherever the key appears in the text", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, unit: "grapheme-ascii" }),
        fc.string(),
        fc.string(),
        (key, before, after) => {
          const known = new SecretText(`${key}#`);
          const shown = redact(before + known.reveal() + after);
          return !shown.includes(known.reveal());
        },
      ),
    );
  });

  test("a string with a known key is not redacted if the key is so short that redaction would garble every message", () => {
    new SecretText("abc");
    expect(redact("abcdef")).toBe("abcdef");
  });
});

describe("a string with a key that is not known here", () => {
  test.each([
    ["https://host/graphql?api_key=k9x8w7&a=1", "k9x8w7"],
    ["Authorization: Bearer k9x8w7v6u5", "k9x8w7v6u5"],
    ["authorization: k9x8w7v6u5", "k9x8w7v6u5"],
    ["['authorization', 'Bearer k9x8w7v6u5']", "k9x8w7v6u5"],
    ['{"authorization":"Bearer k9x8w7v6u5"}', "k9x8w7v6u5"],
    ["Bearer k9x8w7v6u5 was refused", "k9x8w7v6u5"],
    ['{"s3Config":{"accessId":"a","accessSecret":"k9x8w7"}}', "k9x8w7"],
    ["{ s3Config: { accessSecret: 'k9x8w7' } }", "k9x8w7"],
    [String.raw`{"error":"bad body {\"s3Config\":{\"accessSecret\":\"k9x8w7\"}}"}`, "k9x8w7"],
    [String.raw`{"accessSecret":"with \" a quote k9x8w7"}`, "k9x8w7"],
    ['{"id":"pod","env":{"A":"1","WORKER_KEY":"k9x8w7"},"name":"n"}', "k9x8w7"],
    ['{"id":"pod","env":{"A":"a } brace","WORKER_KEY":"k9x8w7', "k9x8w7"],
  ])("a string with a key that is not known here is redacted because of the key's position: %s", (text, key) => {
    expect(redact(text)).not.toContain(key);
  });

  test("a string with a key that is not known here keeps the text around that position", () => {
    expect(redact('{"id":"pod","env":{"A":"1"},"name":"n"}')).toContain('"name":"n"');
    expect(redact('{"accessSecret":"k9x8w7","bucketName":"b"}')).toContain('"bucketName":"b"');
    expect(redact("?api_key=k9x8w7&page=2")).toContain("&page=2");
  });
});

describe("a Secret", () => {
  test("a Secret shows its value only through reveal", () => {
    const shown = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ a: { secret } }),
    ];
    for (const text of shown) expect(text).toContain("[redacted]");
    expect(shown.some(leaks)).toBe(false);
    expect(leaks(inspect(secret, { showHidden: true, customInspect: false }))).toBe(false);
    expect(Object.values(secret)).toEqual([]);
    expect(secret.reveal()).toBe(CANARY);
  });
});

describe("an error", () => {
  function everythingShown(error: Error): string {
    const own = Object.getOwnPropertyNames(error).map((name) => inspect(Reflect.get(error, name), { depth: 20 }));
    return [
      error.message,
      error.stack,
      String(error),
      JSON.stringify(error),
      inspect(error, { depth: 20 }),
      ...own,
    ].join();
  }

  test("an error contains no key in its message, stack, cause, nested causes or their codes", () => {
    const deepest = Object.assign(new Error(`deep ${CANARY}`), { url: `?api_key=${encodeURIComponent(CANARY)}` });
    const cause = Object.assign(new TypeError(`outer ${CANARY}`, { cause: deepest }), { code: "ECONNRESET" });
    cause.stack = `TypeError: ${CANARY}\n    at somewhere`;
    const error = new ConnectionError(`broke: ${FORMS["URL-encoded"]}`, { cause });
    expect(leaks(everythingShown(error))).toBe(false);
    expect(error.cause).toMatchObject({ name: "TypeError", code: "ECONNRESET", cause: { name: "Error" } });
  });

  test("an error contains no key in a cause that is not an Error", () => {
    expect(leaks(everythingShown(new ConnectionError("broke", { cause: CANARY })))).toBe(false);
    expect(leaks(everythingShown(new ConnectionError("broke", { cause: { toString: () => CANARY } })))).toBe(false);
  });

  test("an error can be created with a cause that is its own cause", () => {
    const cause = new Error(CANARY);
    cause.cause = cause;
    expect(leaks(everythingShown(new ConnectionError("broke", { cause })))).toBe(false);
  });

  test("an error stays redacted when the number of attempts is added", () => {
    const error = new ConnectionError(`broke: ${CANARY}`).afterAttempts(3, 9_400);
    expect(error.message).toBe("broke: [redacted] (given up after 3 attempts in 9 s)");
    expect(error.stack).toContain("given up after 3 attempts");
    expect(error.attempts).toBe(3);
    expect(leaks(everythingShown(error))).toBe(false);
  });

  test("an error contains no key in the problems of an input", () => {
    const error = new InvalidInputError("the input", [{ property: CANARY, message: `is ${CANARY}` }]);
    expect(leaks(everythingShown(error))).toBe(false);
  });

  test("an error contains no key in a job state that echoes the key", () => {
    const job = { id: "job-1", status: CANARY };
    expect(leaks(everythingShown(new JobNotRetryableError("no", job)))).toBe(false);
    expect(leaks(everythingShown(new WebhookNotConfirmedError("no", job)))).toBe(false);
  });

  test("an error contains no key in the excerpt of a response, wherever the excerpt is cut off", () => {
    for (let padding = 150; padding < 210; padding++) {
      const error = unexpectedResponse("the list", "no data", { echo: "x".repeat(padding) + CANARY });
      expect(leaks(everythingShown(error))).toBe(false);
    }
  });

  test("an error provides the name of its class and a stable code", () => {
    expect(new NotFoundError("gone")).toMatchObject({ name: "NotFoundError", code: "NOT_FOUND", disposition: "stop" });
    expect(new ConnectionError("broke")).toMatchObject({ code: "CONNECTION", disposition: "wait" });
    expect(new CreateUncertainError("several", ["a", "b"])).toMatchObject({ ids: ["a", "b"] });
    expect(new NotFoundError("gone")).not.toHaveProperty("cause");
  });
});

test("a client never shows its key, however it is inspected", async () => {
  const client = createClient({ apiKey: CANARY.replaceAll(" ", ""), graphqlUrl: "http://127.0.0.1:1" });
  const options = { depth: 20, showHidden: true, customInspect: false };
  expect(leaks(inspect(client, options) + JSON.stringify(client))).toBe(false);
  await client.close();
});

test("a webhook's token stays hidden, even if many jobs use secrets of their own", () => {
  const endpoint = { endpointId: "ep", status: () => Promise.reject(new Error("not asked for")) };
  createWebhookReceiver({ endpoint, token: "a-webhook-token-of-a-test", onJob() {}, onError() {} });
  for (let number = 0; number < 1_001; number++) hideJobSecret(`secret-of-job-${number}`);
  expect(redact("https://example.com/hook?token=a-webhook-token-of-a-test")).not.toContain("a-webhook-token");
});

test("a very long environment that is cut off is redacted in reasonable time", () => {
  const value = "x".repeat(20_000_000);
  expect(redact(`{"env":{"A":"${value}`)).toBe('{"env":{[redacted]');
  expect(redact('{"env":{"A":"}","B":"\\"}"},"c":1}')).toBe('{"env":{[redacted]},"c":1}');
});

test("the beginning of a string shows no part of a key that was split", () => {
  const key = "key-that-is-cut-0123456789".repeat(20);
  new SecretText(key);
  for (let before = 0; before < 6_000; before += 100) {
    const shown = redactBeginning("a ".repeat(before / 2) + key.repeat(30), 200);
    expect(shown).not.toContain("key-that");
    expect(shown.length).toBeLessThanOrEqual(201);
  }
});

test.each([
  ["postgres://me:pass@word@db:5432/x", "postgres://me:[redacted]@db:5432/x"],
  ["to postgresql://me:p%40ss@db/x?sslmode=off.", "to postgresql://me:[redacted]@db/x?sslmode=off."],
  ["postgres://:pw@db", "postgres://:[redacted]@db"],
  ["postgres://db/x?user=me&password=hunter2&a=b", "postgres://db/x?user=me&password=[redacted]&a=b"],
  ["postgres://me@db:5432/x", "postgres://me@db:5432/x"],
])("the password of a database is redacted in %s", (text, shown) => {
  expect(redact(text)).toBe(shown);
});

test("A password that is the name of an option does not change a command.", () => {
  new SecretText("secret");
  const command = "pulumi config set --secret registry-password";
  expect(redact(`run: ${command}. The password secret is wrong`)).toBe(
    `run: ${command}. The password [redacted] is wrong`,
  );
});

test("The body of an error has at most 4,000 characters.", () => {
  const error = new NotFoundError("gone").ofResponse({
    status: 404,
    requestId: undefined,
    headers: {},
    body: "x".repeat(9000),
  });
  expect(error.body).toHaveLength(4000);
});

test("JSON whose strings contain quotes after a key's place stays valid, and the key is redacted.", () => {
  for (const value of ['"$RUNPOD_API_KEY" x', 'unknown-key-1" x', "unknown-key-1\\z"]) {
    for (const place of ["api_key=", "authorization: Bearer ", "?password="]) {
      const text = `set ${place}${value}`;
      for (const wrapped of [JSON.stringify({ text }), JSON.stringify({ text: JSON.stringify({ text }) })]) {
        const shown = redact(wrapped);
        expect(() => JSON.parse(shown)).not.toThrow();
        expect(shown).not.toContain("unknown-key-1");
      }
    }
  }
});
