import type { Emulator } from "../../../emulator";
import { type Play, playAll, startPlays } from "./play";

// Mistakes in a program. Each follows the advice of its message, and all share one stack.

const endpointsOf = (emulator: Emulator, name: string) =>
  emulator.endpoints.list().filter((each) => each.name === name);
const isMade = (emulator: Emulator, name: string) => expect(endpointsOf(emulator, name)).toHaveLength(1);

const RULES = '{ cron: "0 8 * * *", workersMin: 1 }, { cron: "0 20 * * *", workersMin: 0 }';

const REFUSED: readonly Play[] = [
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$" }, { import: "made-by-hand" });`,
    says: /Remove the option import: (set adoptId) in the arguments to its id, and run `pulumi up`/,
    after: `new ServerlessEndpoint("$", { ...right, name: "by hand", adoptId: "made-by-hand" });`,
    holds: (emulator) => expect(endpointsOf(emulator, "by hand")).toMatchObject([{ id: "made-by-hand" }]),
  },
  {
    before: `const other = new ServerlessTemplate("$", { imageName: "a:1", name: "$" });
new ServerlessEndpoint("$", { ...right, name: "held", adoptId: "held" }, { replaceWith: [other] });`,
    says: /Remove adoptId after the adoption, or (remove replaceWith)/,
    after: `const other = new ServerlessTemplate("$", { imageName: "a:1", name: "$" });
new ServerlessEndpoint("$", { ...right, name: "held", adoptId: "held" });`,
    holds: (emulator) => expect(endpointsOf(emulator, "held")).toMatchObject([{ id: "held" }]),
  },
  {
    before: `new ServerlessTemplate("$", { name: "$", imageName: "a:1", dockerArgs: "x", command: { cmd: ["x"] } });`,
    says: /set either command or dockerArgs/,
    after: `new ServerlessTemplate("$", { name: "$", imageName: "a:1", command: { cmd: ["x"] } });`,
    holds: (emulator, name) =>
      expect(emulator.templates.list().filter((each) => each.name === name)).toMatchObject([{ imageName: "a:1" }]),
  },
  {
    before: `for (const each of ["a", "b"]) new ServerlessEndpoint(each, { ...right, name: "two", adoptId: "two" });`,
    says: /the resources "a" and "b" have the same adoptId, two.* Keep one of them/,
    after: `new ServerlessEndpoint("a", { ...right, name: "two", adoptId: "two" });`,
    holds: (emulator) => expect(endpointsOf(emulator, "two")).toMatchObject([{ id: "two" }]),
  },
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [
  { cron: "* * * * *", workersMin: 1 }] } });`,
    says: /fire more than \S+ times a year: use hours instead of minutes/,
    after: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [
  { cron: "0 * * * *", workersMin: 1 }] } });`,
    holds: isMade,
  },
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [
  { cron: "0 8 * * *", workersMin: 1 }, { cron: "0 8 * * 1", workersMin: 0 }] } });`,
    says: /contradict each other: .*Change the time of one/,
    after: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [
  { cron: "0 8 * * *", workersMin: 1 }, { cron: "0 9 * * 1", workersMin: 0 }] } });`,
    holds: isMade,
  },
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [${RULES}] } }, {
  ignoreChanges: ["workersMin"] });`,
    says: /ignoreChanges cannot contain workersMin: (remove that from ignoreChanges)/,
    after: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [${RULES}] } }, {
  ignoreChanges: [] });`,
    holds: isMade,
  },
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [${RULES}] } }, {
  ignoreChanges: ["workersMax"] });`,
    says: /ignoreChanges cannot contain workersMax: .*or (remove schedule)/,
    after: `new ServerlessEndpoint("$", { ...right, name: "$" }, { ignoreChanges: ["workersMax"] });`,
    holds: isMade,
  },
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: pulumi.secret({ timeZone: "UTC", rules: [${RULES}] }) });`,
    says: /Make schedule, workersMin and workersMax plain values/,
    after: `new ServerlessEndpoint("$", { ...right, name: "$", schedule: { timeZone: "UTC", rules: [${RULES}] } });`,
    holds: isMade,
  },
  {
    before: `new ServerlessGpuProvider("$", { apiKey: "key", graphqlUrl: "http://127.0.0.1:9" });`,
    says: /the provider "p\d+" has no queueUrl: set its service: "runpod", or its (graphqlUrl and queueUrl)/,
    after: `new ServerlessGpuProvider("$", { apiKey: "key", graphqlUrl: "http://127.0.0.1:9", queueUrl: "http://127.0.0.1:9" });`,
  },
  {
    before: `new ServerlessGpuProvider("$", { apiKey: "key", graphqlUrl: "http://127.0.0.1:9" });`,
    says: /the provider "p\d+" has no queueUrl: set its (service: "runpod")/,
    after: ([, setting]) => `new ServerlessGpuProvider("$", { apiKey: "key", ${setting} });`,
  },
];

test("what a preview refuses, all at once, is accepted after each advice was followed", async () => {
  await using account = await startPlays();
  for (const id of ["made-by-hand", "held", "two"])
    account.emulator.endpoints.create({
      id,
      name: id === "made-by-hand" ? "by hand" : id,
      gpuIds: "AMPERE_24",
      templateId: "template",
    });
  await playAll(account, REFUSED, ["preview"]);
  expect(account.emulator.endpoints.list()).toHaveLength(8);
});

const WARNED: readonly Play[] = [
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", gpuIds: ["AMPERE_24", "ADA_24"] }, { ignoreChanges: ["gpuIds[1]"] });`,
    says: /ignoreChanges: "gpuIds\[1\]" has no effect.* Name the whole field, "(gpuIds)"/,
    after: ([, field]) =>
      `new ServerlessEndpoint("$", { ...right, name: "$", gpuIds: ["AMPERE_24", "AMPERE_16"] }, { ignoreChanges: ["${field}"] });`,
    holds: (emulator, name) => expect(endpointsOf(emulator, name)).toMatchObject([{ gpuIds: "AMPERE_24,ADA_24" }]),
  },
  {
    before: `new ServerlessEndpoint("$", { ...right, name: "$", imageName: "me/moving:latest", templateId: undefined });`,
    says: /imageName has no fixed tag.* Use a tag for each version/,
    after: `new ServerlessEndpoint("$", { ...right, name: "$", imageName: "me/moving:1", templateId: undefined });`,
    holds: isMade,
  },
  {
    before: `new ServerlessEndpoint("$", { ...image, name: "$", env: { HF_TOKEN: "plain-canary" } });`,
    says: /HF_TOKEN looks like a key.* Keep a key in a Secret, and set the variable to the secret's reference/s,
    after: `const token = new Secret("$", { name: "hf", value: pulumi.secret("plain-canary") });
new ServerlessEndpoint("$", { ...image, name: "$", env: { HF_TOKEN: token.reference } });`,
    holds(emulator, name) {
      expect(endpointsOf(emulator, name)).toHaveLength(1);
      expect(JSON.stringify(endpointsOf(emulator, name))).not.toContain("plain-canary");
    },
  },
];

test("what a run warns of is mended after each advice was followed, and no second endpoint is made", async () => {
  await using account = await startPlays();
  await playAll(account, WARNED);
  expect(account.emulator.endpoints.list()).toHaveLength(3);
});
