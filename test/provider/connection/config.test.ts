import fc from "fast-check";
import { acceptedWords, CONFIG_NAMES, providerSettings, VARIABLE_NAMES } from "../../../provider/connection/config";
import { type ConnectionSettings, requireAddress, requireApiKey, serviceName } from "../../../sdk/connection/settings";
import { ConfigurationError } from "../../../sdk/errors/errors";
import { redact } from "../../../sdk/errors/secretText";

const KEY = "config-test-key-0123456789";
/** The config of an explicit provider. */
const SECOND = { explicit: "second", apiKey: KEY, graphqlUrl: "http://own", queueUrl: "http://own" };

function settings(config: Record<string, string>, environment: Record<string, string> = {}) {
  return providerSettings((name) => config[name], environment);
}

/** Returns the result of a call, or the message of its error. */
function outcomeOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test("the provider's settings follow every change of the environment and of the config", () => {
  // Too short to be redacted in the messages of other tests.
  const value = fc.constantFrom(undefined, "", " ", "a", "b", "OWN");
  const names = [...CONFIG_NAMES, ...VARIABLE_NAMES, "explicit", "apiKeyEnv", "OWN"];
  const change = fc.record({ isInConfig: fc.boolean(), name: fc.constantFrom(...names), value });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const config: Record<string, string | undefined> = {};
      const environment: Record<string, string | undefined> = {};
      const read = (name: string) => config[name];
      for (const { isInConfig, name, value } of changes) {
        (isInConfig ? config : environment)[name] = value;
        const settings = outcomeOf(() => providerSettings(read, environment));
        expect(outcomeOf(() => providerSettings(read, environment))).toEqual(settings);
        // Other values in between, so that the last call reads all of them again.
        providerSettings((name) => (name === "apiKey" ? "another" : undefined), {});
        expect(outcomeOf(() => providerSettings(read, environment))).toEqual(settings);
      }
    }),
    { numRuns: 300 },
  );
});

describe("the provider's settings", () => {
  test("the provider's settings are read from the stack's config", () => {
    const config = {
      apiKey: KEY,
      service: "another",
      graphqlUrl: "http://g",
      restUrl: "http://r",
      queueUrl: "http://q",
    };
    expect(settings({ ...config, acceptWords: "HOPPER_142, BLACKWELL_97" })).toEqual({
      ...config,
      acceptWords: ["HOPPER_142", "BLACKWELL_97"],
      provider: "",
      allowAccountChange: false,
    });
  });

  test.each([
    ["apiKey", "SERVERLESS_GPU_API_KEY"],
    ["service", "SERVERLESS_GPU_SERVICE"],
    ["graphqlUrl", "SERVERLESS_GPU_GRAPHQL_URL"],
    ["restUrl", "SERVERLESS_GPU_REST_URL"],
    ["queueUrl", "SERVERLESS_GPU_QUEUE_URL"],
  ] as const)("%s is read from %s first, and then from the config", (name, variable) => {
    expect(settings({ [name]: "from-config" }, { [variable]: " from-environment " })[name]).toBe("from-environment");
    expect(settings({ [name]: " from-config " }, { [variable]: " " })[name]).toBe("from-config");
    expect(settings({ [name]: "" }, {})[name]).toBeUndefined();
  });

  test("account is read from the environment first, but an explicit provider only has its own", () => {
    const variables = { SERVERLESS_GPU_ACCOUNT: "mine" };
    expect(settings({ account: "of-config" }, variables).account).toBe("mine");
    const own = { explicit: "staging", apiKey: KEY, service: "runpod" };
    expect(settings({ ...own, account: "theirs" }, variables).account).toBe("theirs");
    expect(settings(own, variables).account).toBeUndefined();
  });

  test("acceptWords combines the words of the environment and of the config, also for an explicit provider, and is empty by default", () => {
    const environment = { SERVERLESS_GPU_ACCEPT_WORDS: "FIRST, SECOND" };
    expect(settings({ acceptWords: "THIRD,FIRST" }, environment).acceptWords).toEqual(["FIRST", "SECOND", "THIRD"]);
    expect(settings({ ...SECOND, acceptWords: "THIRD" }, environment).acceptWords).toEqual([
      "FIRST",
      "SECOND",
      "THIRD",
    ]);
    expect(settings({}).acceptWords).toEqual([]);
  });

  test("a YAML list in a stack's config arrives as JSON and is accepted, but other JSON is refused", () => {
    expect(settings({ acceptWords: '["HOPPER_142"," A,B"]' }).acceptWords).toEqual(["HOPPER_142", "A", "B"]);
    for (const text of ['{"HOPPER_141":true}', "[1]", "[HOPPER_141", '"HOPPER_141"']) {
      expect(() => settings({ acceptWords: text })).toThrow(ConfigurationError);
      expect(() => settings({ acceptWords: text })).toThrow(/^serverless-gpu:acceptWords must be a comma-separated/);
    }
  });

  test("the countries of a named service are accepted, but countries found in another account are not", () => {
    const countries = (config: Record<string, string>, environment: Record<string, string> = {}) =>
      acceptedWords((name) => config[name], environment).countries;
    expect(countries({ service: "runpod" })).toContain("CA");
    expect(countries({}, { SERVERLESS_GPU_SERVICE: "runpod" })).toContain("CA");
    expect(countries(SECOND, { SERVERLESS_GPU_SERVICE: "runpod" })).toEqual([]);
  });

  test("register the key as a secret immediately", () => {
    settings({ apiKey: "known-from-config-onwards" });
    expect(redact("it is known-from-config-onwards")).toBe("it is [redacted]");
  });
});

describe("the API key", () => {
  test("the API key is trimmed", () => {
    expect(requireApiKey({ apiKey: ` ${KEY}\n` })).toBe(KEY);
  });

  test.each([
    [undefined],
    [""],
    ["  "],
  ])("a missing setting (%j) causes an error that says where to set it", (apiKey) => {
    const failing = () => requireApiKey({ apiKey, service: "runpod" });
    expect(failing).toThrow(ConfigurationError);
    expect(failing).toThrow(/^there is no API key.*SERVERLESS_GPU_API_KEY.*serverless-gpu:apiKey.*option apiKey/);
  });

  test("without a key, a service and URLs, the error first says that nothing is configured", () => {
    expect(() => requireApiKey({ apiKey: "" })).toThrow(
      /^nothing is configured yet: there is no API key and no service/,
    );
  });

  test.each([
    ["two words"],
    ["line\nbreak"],
    ["schlüssel"],
    ["nul\0"],
  ])("%j is refused without being shown", (apiKey) => {
    const failing = () => requireApiKey({ apiKey });
    expect(failing).toThrow(/characters that are not valid in a key/);
    expect(failing).not.toThrow(apiKey);
  });
});

describe("a URL", () => {
  const address = (graphqlUrl: string, more: ConnectionSettings = {}) =>
    requireAddress({ graphqlUrl, ...more }, "graphqlUrl");

  test.each([
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    [" https://api.example.com/ ", "https://api.example.com"],
    ["https://api.example.com//", "https://api.example.com"],
    ["https://example.com/prefix/", "https://example.com/prefix"],
    ["https://example.com/?", "https://example.com"],
    ["https://example.com/prefix#", "https://example.com/prefix"],
    ["HTTPS://EXAMPLE.com", "https://example.com"],
    ["http://[::1]:80", "http://[::1]"],
  ])("%j becomes %j", (given, expected) => {
    expect(address(given)).toBe(expected);
  });

  test.each([
    ["graphqlUrl", "https://api.example.com/graphql", "https://api.example.com"],
    ["graphqlUrl", "https://api.example.com/graphql/", "https://api.example.com"],
    ["graphqlUrl", "https://example.com/prefix//graphql", "https://example.com/prefix"],
    ["restUrl", "https://rest.example.com/v1/", "https://rest.example.com"],
    ["queueUrl", "https://api.example.com/v2", "https://api.example.com"],
    ["queueUrl", "https://api.example.com/v1", "https://api.example.com/v1"],
    ["graphqlUrl", "https://example.com/mygraphql", "https://example.com/mygraphql"],
  ] as const)("%s may contain the path of its own API: %s", (name, given, expected) => {
    expect(requireAddress({ [name]: given }, name)).toBe(expected);
  });

  test.each([
    "api.example.com",
    "localhost:8080",
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://",
    "https://user:s3cret@example.com",
    "https://example.com?api_key=s3cret",
    "https://example.com/#top",
    "not a url",
  ])("%j is refused without being shown", (given) => {
    const failing = () => address(given);
    expect(failing).toThrow(ConfigurationError);
    expect(failing).toThrow(/^graphqlUrl must be an http\(s\) URL/);
    expect(failing).not.toThrow("s3cret");
  });

  test("a missing key causes an error that says where to set it", () => {
    for (const name of ["graphqlUrl", "restUrl", "queueUrl"] as const) {
      expect(() => requireAddress({}, name)).toThrow(ConfigurationError);
      expect(() => requireAddress({}, name)).toThrow(
        new RegExp(`no ${name}: set SERVERLESS_GPU_.*_URL, .*SERVERLESS_GPU_SERVICE=runpod`),
      );
    }
  });

  test("a URL comes from the named service unless it is set", () => {
    const service = "runpod";
    expect(requireAddress({ service }, "graphqlUrl")).toBe("https://api.runpod.io");
    expect(requireAddress({ service }, "restUrl")).toBe("https://rest.runpod.io");
    expect(requireAddress({ service }, "queueUrl")).toBe("https://api.runpod.ai");
    expect(address("http://127.0.0.1:1", { service })).toBe("http://127.0.0.1:1");
  });
});

describe("a service's name", () => {
  test("a service's name is runpod or undefined", () => {
    expect(serviceName({ service: " runpod " })).toBe("runpod");
    expect(serviceName({ service: "" })).toBeUndefined();
    expect(serviceName({})).toBeUndefined();
  });

  test.each(["RunPod", "aws", "__proto__"])("%j is refused as unknown", (service) => {
    expect(() => serviceName({ service })).toThrow(
      /is unknown: set it to runpod, or remove it and set the URLs instead/,
    );
  });
});
