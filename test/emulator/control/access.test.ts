import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { startEmulator } from "../../../emulator";
import { accessRefusal } from "../../../emulator/control/access";
import { send } from "../../support/plainClient";

interface Init {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Returns the status of a response. `fetch` does not send another Host than that of its URL. */
function statusAt(url: string, { body, ...init }: Init): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...init, agent: false }, (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("access to the control interface", () => {
  const options = { apiKey: "the-key", token: "page-token", host: "127.0.0.1" };
  const refusal = (headers: Record<string, string>, remote = "127.0.0.1", method = "POST", path = "/_emulator/reset") =>
    accessRefusal({ method, path, headers: { host: "127.0.0.1:8080", ...headers } }, remote, options);
  const bearer = { authorization: "Bearer the-key" };
  const basic = { authorization: `Basic ${Buffer.from("anyone:the-key").toString("base64")}` };
  const own = { origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" };
  const token = { "x-emulator-token": "page-token" };

  test.each<[string, string, Record<string, string>]>([
    ["this machine", "127.0.0.1", {}],
    ["this machine over IPv6", "::1", { host: "[::1]:8080" }],
    ["this machine, mapped", "::ffff:127.0.0.1", {}],
    ["this machine by name", "127.0.0.1", { host: "LOCALHOST:8080" }],
    ["this machine by a name below localhost", "127.0.0.1", { host: "emulator.localhost" }],
    ["this machine by another of its IP addresses", "127.0.0.1", { host: "192.168.1.2:8080" }],
    ["another machine with the key", "192.0.2.7", { ...bearer, host: "emulator:8080" }],
    ["another machine with the key as the password", "192.0.2.7", { ...basic, host: "emulator:8080" }],
    ["the page, with its token", "127.0.0.1", { ...own, ...token }],
  ])("access to the control interface is open to %s", (_, remote, headers) => {
    expect(refusal(headers, remote)).toBeUndefined();
  });

  test.each<[string, string, Record<string, string>, number, RegExp]>([
    ["another machine", "192.0.2.7", {}, 401, /bearer/],
    ["another machine with a wrong key", "192.0.2.7", { authorization: "Bearer another" }, 401, /bearer/],
    ["a name that leads here (DNS rebinding)", "127.0.0.1", { host: "evil.example:8080" }, 403, /another site/],
    ["a name that only begins like ours", "127.0.0.1", { host: "localhost.evil.example" }, 403, /another site/],
    ["a name that only ends like ours", "127.0.0.1", { host: "evillocalhost" }, 403, /another site/],
    ["no name", "127.0.0.1", { host: "" }, 403, /another site/],
    ["another site", "127.0.0.1", { ...bearer, origin: "https://evil.example" }, 403, /web pages/],
    ["another site with the token", "127.0.0.1", { ...token, origin: "https://evil.example" }, 403, /web pages/],
    ["a page without an origin", "127.0.0.1", { ...bearer, ...token, origin: "null" }, 403, /web pages/],
    ["another port of this machine", "127.0.0.1", { ...token, origin: "http://127.0.0.1:3000" }, 403, /web pages/],
    [
      "a cross-site request without Origin",
      "127.0.0.1",
      { ...token, "sec-fetch-site": "cross-site" },
      403,
      /web pages/,
    ],
    ["the page without its token", "127.0.0.1", own, 403, /reload/],
    ["the page with an old token", "127.0.0.1", { ...own, "x-emulator-token": "old" }, 403, /reload/],
  ])("access to the control interface is closed to %s", (_, remote, headers, status, reason) => {
    expect(refusal(headers, remote)).toEqual({ status, reason: expect.stringMatching(reason) });
  });

  test("a link on another site can open the page, but can do nothing else", () => {
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect(refusal(link, "127.0.0.1", "GET", "/_emulator/")).toBeUndefined();
    expect(refusal(link, "127.0.0.1", "GET", "/_emulator/journal")).toMatchObject({ status: 403 });
    const frame = { ...link, "sec-fetch-dest": "iframe" };
    expect(refusal(frame, "127.0.0.1", "GET", "/_emulator/")).toMatchObject({ status: 403 });
  });

  test("a page that uses DNS rebinding is refused on every route, and changes nothing", async () => {
    await using emulator = await startEmulator({ randomSeed: 1, profile: "observed" });
    emulator.seed({ endpoints: [{ id: "mine", name: "mine", gpuIds: "ADA_24", templateId: "t" }] });
    const at = (path: string, init: Init = {}) =>
      statusAt(`${emulator.url}${path}`, { ...init, headers: { host: "evil.example", ...init.headers } });
    const query = JSON.stringify({ query: "{ myself { endpoints { id } } }" });
    const json = { "content-type": "application/json" };
    const guessed = { authorization: "Bearer local-emulator-key" };
    for (const headers of [{}, guessed]) {
      const responses = await Promise.all([
        at("/", { headers }),
        at("/graphql", { method: "POST", headers: { ...json, ...headers }, body: query }),
        at("/graphql?api_key=local-emulator-key", { method: "POST", headers: json, body: query }),
        at("/v1/pods", { headers }),
        at("/v2/serverless", { headers }),
        at("/v2/mine/health", { headers }),
        at("/v2/mine/run", { method: "POST", headers: { ...json, ...headers }, body: '{"input":{"n":1}}' }),
        at("/v2/mine/job-take/worker", { headers }),
        at("/v2/mine/openai/v1/models", { headers }),
        at("/nothing", { headers }),
        at("/_emulator/", { headers }),
        at("/_emulator/journal", { headers }),
        at("/_emulator/events", { headers }),
        at("/_emulator/reset", { method: "POST", headers }),
      ]);
      expect(responses).toEqual(responses.map(() => 403));
    }
    expect(emulator.journal.requests()).toEqual([]);
    expect(emulator.endpoints.list()).toHaveLength(1);
    // A program in another container calls it by a name, and has the key.
    const bearer = { authorization: `Bearer ${emulator.apiKey}`, host: "emulator:8080" };
    expect(await at("/v2/mine/health", { headers: bearer })).toBe(200);
    const byQuery = `/graphql?api_key=${emulator.apiKey}`;
    expect(await at(byQuery, { method: "POST", headers: json, body: query })).toBe(200);
  });

  test("each emulator generates its own key, which cannot be guessed even with the random seed", async () => {
    await using one = await startEmulator({ profile: "contract", randomSeed: 1 });
    await using other = await startEmulator({ profile: "contract", randomSeed: 1 });
    expect(one.apiKey).toMatch(/^emulator-[0-9a-f]{32}$/);
    expect(one.apiKey).not.toBe(other.apiKey);
    expect(one.env.SERVERLESS_GPU_API_KEY).toBe(one.apiKey);
  });

  test("a browser on another machine is asked for the key", async () => {
    const [address] = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    if (!address) return;
    await using emulator = await startEmulator({ profile: "contract", host: "0.0.0.0" });
    const url = `${emulator.url.replace("127.0.0.1", address.address)}/_emulator/`;
    const { status, headers } = await send(url);
    expect([status, headers.get("www-authenticate")]).toEqual([401, expect.stringMatching(/^Basic/)]);
    const key = Buffer.from(`:${emulator.apiKey}`).toString("base64");
    expect((await send(url, { headers: { authorization: `Basic ${key}` } })).status).toBe(200);
  });
});
