import {
  type AccountIdentity,
  accountRecord,
  isOtherAccount,
  isRedirected,
  refuseOtherAccount,
} from "../../../provider/connection/account";
import { providerSettings } from "../../../provider/connection/config";
import { ConfigurationError } from "../../../sdk/errors/errors";

const KEY = "account-test-key-abcdef";
const HOME: AccountIdentity = { service: "https://api.example.com", apiKey: KEY, provider: "" };
const elsewhere = { ...HOME, service: "https://other.example.com" };
const otherKey = { ...HOME, apiKey: "account-test-key-uvwxyz" };
const otherProvider = { ...HOME, provider: "staging account" };

/** Returns the outputs of an endpoint that was last seen in an account. */
const seenAt = (account: AccountIdentity) => ({ __account: accountRecord(account, "ep-1") });
const settings = (allowAccountChange = false) => ({ allowAccountChange });

describe("the record of an account", () => {
  test("the record of an account is one short line without any part of the key", () => {
    const record = accountRecord(HOME, "ep-1");
    expect(record).toMatch(/^https:\/\/api\.example\.com [0-9a-f]{12}$/);
    for (let start = 0; start + 5 <= KEY.length; start++) expect(record).not.toContain(KEY.slice(start, start + 5));
  });

  test("the record of an account differs by endpoint, so it does not reveal which endpoints use the same key", () => {
    expect(accountRecord(HOME, "ep-1")).not.toBe(accountRecord(HOME, "ep-2"));
    expect(accountRecord(HOME, "ep-1")).toBe(accountRecord({ ...HOME }, "ep-1"));
  });
});

describe("an endpoint that is absent", () => {
  test("an endpoint that is absent counts as deleted in the account in which it was last seen", () => {
    expect(() =>
      refuseOtherAccount("endpoint", seenAt(HOME), { account: HOME, settings: settings() }, "ep-1"),
    ).not.toThrow();
  });

  test.each([
    ["It was last seen with another API key", otherKey],
    ["It was last seen at https://api.example.com, not at https://other.example.com", elsewhere],
  ])("an endpoint that is absent does not count as deleted when %s", (reason, account) => {
    const failing = () => refuseOtherAccount("endpoint", seenAt(HOME), { account, settings: settings() }, "ep-1");
    expect(failing).toThrow(expect.objectContaining({ code: "ACCOUNT_CHANGED" }));
    expect(failing).toThrow(reason);
    expect(failing).toThrow(
      /may still exist in that account, and you may still be charged.*SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true/s,
    );
    expect(failing).not.toThrow(account.apiKey);
  });

  test("an endpoint that is absent counts as deleted if the user says so or if no account was recorded", () => {
    expect(() =>
      refuseOtherAccount("endpoint", seenAt(HOME), { account: otherKey, settings: settings(true) }, "ep-1"),
    ).not.toThrow();
    expect(() => refuseOtherAccount("endpoint", {}, { account: otherKey, settings: settings() }, "ep-1")).not.toThrow();
  });

  test("an endpoint that is absent counts as deleted when only the provider was renamed", () => {
    expect(() =>
      refuseOtherAccount("endpoint", seenAt(HOME), { account: otherProvider, settings: settings() }, "ep-1"),
    ).not.toThrow();
  });
});

describe("an endpoint may be elsewhere", () => {
  test.each<[string, AccountIdentity, boolean, boolean]>([
    ["with another key under another provider", { ...otherKey, provider: "staging" }, true, true],
    ["at another service under another provider", { ...elsewhere, provider: "staging" }, true, true],
    ["under another provider of the same account", otherProvider, false, true],
    ["with another key", otherKey, true, false],
    ["at another service", elsewhere, true, true],
    ["where it was", HOME, false, false],
  ])("%s", (_where, account, isOther, isAnotherWay) => {
    expect(isOtherAccount(seenAt(HOME), account, "ep-1")).toBe(isOther);
    const outputs = { ...seenAt(HOME), queueUrl: "http://queue/v2/ep-1" };
    expect(isRedirected(outputs, { account, queueUrl: "http://queue" }, "ep-1")).toBe(isAnotherWay);
  });

  test("but not if no account was recorded", () => {
    expect(isOtherAccount({}, otherProvider, "ep-1")).toBe(false);
    expect(isRedirected({}, { account: otherProvider, queueUrl: "http://queue" }, "ep-1")).toBe(false);
  });
});

describe("an explicit provider's settings", () => {
  const config = (values: Record<string, string>) => (name: string) => values[name];
  const environment = {
    SERVERLESS_GPU_API_KEY: "environment-key-123456",
    SERVERLESS_GPU_SERVICE: "runpod",
    SERVERLESS_GPU_GRAPHQL_URL: "http://environment",
    SERVERLESS_GPU_QUEUE_URL: "http://environment",
    STAGING_KEY: " staging-key-123456 ",
  };

  test("an explicit provider's settings are used together and ignore the environment", () => {
    const settings = providerSettings(
      config({ explicit: "staging", apiKey: KEY, graphqlUrl: "http://own", queueUrl: "http://queue" }),
      environment,
    );
    const urls = { graphqlUrl: "http://own", queueUrl: "http://queue" };
    expect(settings).toMatchObject({ provider: "staging", apiKey: KEY, ...urls });
    expect([settings.service, settings.restUrl]).toEqual([undefined, undefined]);
  });

  test.each([
    [{}, "no graphqlUrl and no queueUrl"],
    [{ queueUrl: "http://own" }, "no graphqlUrl"],
    [{ graphqlUrl: "http://own", queueUrl: "" }, "no queueUrl"],
  ])("cause an error that names the missing settings of the provider if it sets only the URLs %j", (urls, missing) => {
    const failing = () => providerSettings(config({ explicit: "staging", apiKey: KEY, ...urls }), environment);
    expect(failing).toThrow(ConfigurationError);
    expect(failing).toThrow(`the provider "staging" has ${missing}: set its service: "runpod", or its graphqlUrl and`);
    expect(failing).not.toThrow("SERVERLESS_GPU_");
  });

  test("an explicit provider's settings read the key only from the variable named by apiKeyEnv", () => {
    const explicit = { explicit: "staging", apiKeyEnv: "STAGING_KEY", service: "runpod" };
    expect(providerSettings(config(explicit), environment).apiKey).toBe("staging-key-123456");
    const failing = () => providerSettings(config({ ...explicit, apiKeyEnv: "MISSING_KEY" }), environment);
    expect(failing).toThrow(ConfigurationError);
    expect(failing).toThrow(/environment variable MISSING_KEY, which the provider's apiKeyEnv names, is not set/);
  });

  test("an explicit provider's settings are the only settings to which apiKeyEnv applies", () => {
    expect(providerSettings(config({ apiKeyEnv: "STAGING_KEY", apiKey: KEY }), {}).apiKey).toBe(KEY);
  });
});
