import { spawnSync } from "node:child_process";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { ServerlessEndpoint } from "../../../provider";

const ARGS = { gpuIds: "AMPERE_24", templateId: "abc123" };

beforeAll(() =>
  pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
    call: () => ({}),
  }),
);

/**
 * The stack traces that are recorded while the endpoint is declared, by the number of their frames.
 */
function framesDuring(declare: () => void): number[] {
  const frames: number[] = [];
  const original = Promise.prototype.then;
  const spy = jest.spyOn(Promise.prototype, "then").mockImplementation(function (this: Promise<unknown>, ...args) {
    frames.push((new Error().stack ?? "").split("\n").length - 1);
    return original.apply(this, args) as Promise<never>;
  });
  try {
    declare();
  } finally {
    spy.mockRestore();
  }
  return frames;
}

test("a declaration records no stack traces and leaves their length unchanged", () => {
  const before = Error.stackTraceLimit;
  const frames = framesDuring(() => new ServerlessEndpoint("llama", ARGS));
  expect(frames.filter((count) => count === 0).length).toBeGreaterThan(50);
  expect(Error.stackTraceLimit).toBe(before);
});

test("a declaration records stack traces with PULUMI_DEBUG_PROMISE_LEAKS", () => {
  process.env.PULUMI_DEBUG_PROMISE_LEAKS = "true";
  try {
    const frames = framesDuring(() => new ServerlessEndpoint("leaking", ARGS));
    expect(frames.length).toBeGreaterThan(50);
    expect(Math.min(...frames)).toBeGreaterThan(0);
  } finally {
    delete process.env.PULUMI_DEBUG_PROMISE_LEAKS;
  }
});

test("an error in a declaration shows where the program makes it", () => {
  const before = Error.stackTraceLimit;
  const declare = () => new ServerlessEndpoint("", ARGS);
  let error: unknown;
  try {
    declare();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ message: expect.stringContaining("Missing resource name"), stack: expect.any(String) });
  expect((error as Error).stack).toContain("traces.test.ts");
  expect(Error.stackTraceLimit).toBe(before);
});

test("the function that prints traces is restored, even after an error", () => {
  const { prepareStackTrace } = Error;
  const prepare = (error: Error) => `${error}`;
  Error.prepareStackTrace = prepare;
  try {
    new ServerlessEndpoint("printed", ARGS);
    expect(Error.prepareStackTrace).toBe(prepare);
    expect(() => new ServerlessEndpoint("", ARGS)).toThrow("Missing resource name");
    expect(Error.prepareStackTrace).toBe(prepare);
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
});

const REPOSITORY = path.resolve(__dirname, "../../..");

/**
 * Runs a program whose only registration is refused. Returns the stack of the error that ends it.
 */
function failureOf(declaration: string): string {
  const program = `
    const pulumi = require("@pulumi/pulumi");
    const refuse = () => { throw new Error("invalid alias"); };
    pulumi.runtime.setMocks({ newResource: refuse, call: refuse });
    process.once("unhandledRejection", (error) => { console.log(error.stack); process.exit(); });
    const { ServerlessEndpoint } = require(${JSON.stringify(path.join(REPOSITORY, "dist/provider"))});
    (function userCode() {
      ${declaration}
    })();`;
  return spawnSync(process.execPath, ["-e", program], { cwd: REPOSITORY, encoding: "utf8", timeout: 30_000 }).stdout;
}

test("an error of the engine shows where the program declares the endpoint", () => {
  const refused = failureOf(`new ServerlessEndpoint("llama", ${JSON.stringify(ARGS)});`);
  expect(refused).toMatch(/^Error: failed to register new resource llama .*invalid alias\n(.*\n)* +at userCode /);
});

test("an error in an argument keeps its own stack", () => {
  const args = `{ ...${JSON.stringify(ARGS)}, templateId: (async function find() { throw new Error("no template"); })() }`;
  expect(failureOf(`new ServerlessEndpoint("llama", ${args});`)).toMatch(/no template\n+ +at find /);
});
