import path from "node:path";
import { type Emulator, type FaultEffect, startEmulator } from "../../emulator";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

/** The ways in which a service may answer after it has ended GraphQL. */
const WAYS: Readonly<Record<string, FaultEffect>> = {
  "410": { status: 410 },
  "404": { status: 404 },
  redirect: { status: 301, headers: { location: "https://example.com/" } },
};

/** `npm run test:everywhere` runs every test in both forms, with every way and every command. */
const chosen = <T>(all: readonly T[], inCi: readonly T[]) => (IS_EVERYWHERE ? all : inCi);

const UP = ["up", "--yes", "--skip-preview"];
const REFRESH = ["refresh", "--yes", "--skip-preview"];
/** Runs of a program that is first created, then unchanged. */
const RUNS = [["preview"], UP, ["preview"], ["preview", "--refresh"], [...UP, "--refresh"], REFRESH];

/** Both forms of the provider, and what is played with each form. */
const FORMS = {
  dynamic: {
    runs: chosen(RUNS, [["preview"], UP, ["preview", "--refresh"]]),
    ways: chosen(Object.keys(WAYS), ["410"]),
    waysOfTemplate: chosen(Object.keys(WAYS), ["410", "redirect"]),
    isPlanned: IS_EVERYWHERE,
    create: (env: Readonly<Record<string, string>>) => createStack({ env }),
    write: (program: string) => `const plugin = require("pulumi-serverless-gpu");\nconst GPUS = "ADA_24";\n${program}`,
  },
  plugin: {
    runs: chosen(RUNS, [UP, ["preview"], [...UP, "--refresh"], REFRESH]),
    ways: chosen(Object.keys(WAYS), ["404"]),
    waysOfTemplate: chosen(Object.keys(WAYS), ["404"]),
    isPlanned: true,
    create: (env: Readonly<Record<string, string>>) => createPluginStack("", env),
    write: (program: string) => withPlugin(`const GPUS = ["ADA_24"];\n${program}`),
  },
};

const OLD = "me/llama:1";
const NEW = "me/llama:2";
const NAMES = ["one", "two", "three"];

interface Choice {
  readonly image?: string;
  readonly workersMax?: number;
  readonly more?: string;
}

/** A template and three endpoints that use it. */
const sharing = ({ image = OLD, workersMax = 1, more = "" }: Choice) => `
const template = new plugin.ServerlessTemplate("llama", { name: "llama", imageName: "${image}" });
for (const name of ${JSON.stringify(NAMES)})
  new plugin.ServerlessEndpoint(name, { name, gpuIds: GPUS, templateId: template.id, workersMax: ${workersMax}, ${more} });
`;

/** An endpoint with its own container. */
const single = ({ image = OLD, workersMax = 1, more = "" }: Choice) =>
  `new plugin.ServerlessEndpoint("one", { name: "one", gpuIds: GPUS, imageName: "${image}", workersMax: ${workersMax}, ${more} });`;

const REVISION = "templateRevision: template.revision";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
});
afterEach(() => emulator.stop());

const end = (way: string) =>
  void emulator.faults.add({ match: { interface: "graphql" }, effect: WAYS[way] as FaultEffect });

/** Returns the images that the endpoints' workers run. */
function serving(): (string | undefined)[] {
  return emulator.endpoints
    .list()
    .map(({ container, templateId }) => container?.imageName ?? emulator.templates.get(String(templateId))?.imageName);
}

const MAIN = path.resolve("dist/cli/main.js");

/** The commands that read from the account. */
const COMMANDS = [
  ["adopt"],
  ["explain", "e1"],
  ["history", "e1"],
  ["logs", "e1"],
  ["orphans"],
  ["rollback", "e1", "--to", "1"],
];

test.each(
  Object.keys(WAYS),
)("when GraphQL answers with %s, every command uses REST v2 or says how to set it", async (way) => {
  emulator.templates.create({ id: "t1", name: "template", imageName: OLD, isServerless: true });
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: "t1" });
  const stack = await createStack({ program: "", env: emulator.env });
  end(way);
  const other = COMMANDS.filter((_, index) => (index % 2 === 0) === (way === "404"));
  for (const args of way === "410" ? COMMANDS : chosen(COMMANDS, other)) {
    const { stderr } = await stack.exec(process.execPath, [MAIN, ...args]);
    if (way === "410")
      expect([args, stderr]).toEqual([
        args,
        expect.stringContaining("REST v2 (GraphQL has ended with status 410 Gone"),
      ]);
    else
      expect([args, stderr]).toEqual([
        args,
        expect.stringContaining("If the service has ended it, set SERVERLESS_GPU_API=v2"),
      ]);
  }
  expect(emulator.endpoints.get("e1")).toMatchObject({ workersMax: 3 });
  expect(requestsTo("v2").filter(({ operation }) => !/^(list|get)/.test(operation))).toEqual([]);
});

test("with SERVERLESS_GPU_API=v2, no command asks GraphQL, and every command says that it uses REST v2", async () => {
  emulator.templates.create({ id: "t1", name: "template", imageName: OLD, isServerless: true });
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: "t1" });
  const stack = await createStack({ program: "", env: { ...emulator.env, SERVERLESS_GPU_API: "v2" } });
  for (const args of COMMANDS) {
    const { stderr } = await stack.exec(process.execPath, [MAIN, ...args]);
    expect([args, stderr]).toEqual([args, expect.stringContaining("REST v2 (SERVERLESS_GPU_API)")]);
    expect([args, stderr]).not.toEqual([args, expect.stringContaining("GraphQL answers")]);
  }
  expect(requestsTo("graphql")).toEqual([]);
});

const requestsTo = (api: "graphql" | "v2") => emulator.journal.requests({ interface: api });

/** Returns what the engine says at the end of a run. It shows each message while it runs, too. */
const diagnostics = (output: string) => output.slice(output.lastIndexOf("Diagnostics:"));

describe.each(Object.entries(FORMS))("in the %s form", (_, form) => {
  async function started(program: string): Promise<PulumiStack> {
    const stack = await form.create(emulator.env);
    await stack.writeProgram(form.write(program));
    await stack.up();
    expect(requestsTo("v2").filter(({ operation }) => !/^(list|get)/.test(operation))).toEqual([]);
    return stack;
  }
  const change = (stack: PulumiStack, program: string) => stack.writeProgram(form.write(program));

  test("up, preview and refresh each say once when RunPod shuts down GraphQL, unless they use REST v2", async () => {
    const stack = await form.create({ ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod" });
    await change(stack, single({}));
    const note = "the service runpod shuts down GraphQL, which this run uses, in early 2027";
    for (const args of form.runs) {
      const { output } = await stack.succeed(args);
      expect([args, diagnostics(output).split(note).length - 1]).toEqual([args, 1]);
    }
    const { output } = await stack.succeed(REFRESH, { SERVERLESS_GPU_API: "v2" });
    expect(output).not.toContain("shuts down GraphQL");
  });

  test.each(
    form.ways,
  )("when GraphQL answers with %s, preview, refresh, up and destroy of an endpoint use REST v2, and say so", async (way) => {
    const stack = await started(single({}));
    end(way);
    await change(stack, single({ workersMax: 2, image: NEW }));
    for (const args of [["preview"], REFRESH, UP]) {
      const { output } = await stack.succeed(args);
      expect([args, diagnostics(output).split("uses REST v2 in this run").length - 1]).toEqual([args, 1]);
    }
    expect(emulator.endpoints.list()).toMatchObject([{ name: "one", workersMax: 2 }]);
    expect(serving()).toEqual([NEW]);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    await stack.destroy();
    expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
  });

  if (form.waysOfTemplate.includes("410"))
    test("after status 410, a template that changes reaches its three endpoints only with templateRevision", async () => {
      const stack = await started(sharing({}));
      end("410");
      await change(stack, sharing({ image: NEW, workersMax: 2 }));
      const refused = await stack.run(UP);
      expect(refused.exitCode).not.toBe(0);
      expect(refused.output).toMatch(
        /template "llama" was not changed \(imageName\).*templateRevision: template.revision/,
      );
      expect(serving()).toEqual([OLD, OLD, OLD]);
      expect(emulator.endpoints.list().map(({ workersMax }) => workersMax)).toEqual([1, 1, 1]);
      await change(stack, sharing({ image: NEW, workersMax: 2, more: REVISION }));
      const again = await stack.run(UP);
      expect(again.exitCode).not.toBe(0);
      expect(serving()).toEqual([OLD, OLD, OLD]);
      await stack.succeed(UP, { SERVERLESS_GPU_API: "v2" });
      expect(serving()).toEqual([NEW, NEW, NEW]);
      await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    });

  test.each(
    form.waysOfTemplate.filter((way) => way !== "410"),
  )("when GraphQL answers with %s, a change of a template with three endpoints is refused, and everything serves as before", async (way) => {
    const stack = await started(sharing({ more: REVISION }));
    end(way);
    await change(stack, sharing({ image: NEW, more: REVISION }));
    const { exitCode, output } = await stack.run(UP);
    expect(exitCode).not.toBe(0);
    expect(output).toContain("not certain that REST v2 shows the same account. Nothing was changed");
    expect(output).toContain("pulumi config set serverless-gpu:api v2");
    expect(serving()).toEqual([OLD, OLD, OLD]);
    await stack.succeed(UP, { SERVERLESS_GPU_API: "v2" });
    expect(serving()).toEqual([NEW, NEW, NEW]);
  });

  if (form.isPlanned)
    test("a plan that was saved over one API applies over the other", async () => {
      const stack = await started(sharing({ more: REVISION }));
      const file = path.join(stack.scratch, "temp", "plan.json");
      const planned = async (choice: Choice, env: Readonly<Record<string, string>> = {}) => {
        await change(stack, sharing({ more: REVISION, ...choice }));
        await stack.succeed(["preview", "--save-plan", file], env);
      };
      const apply = (env: Readonly<Record<string, string>> = {}) => stack.succeed([...UP, "--plan", file], env);
      await planned({ image: NEW, workersMax: 2 }, { SERVERLESS_GPU_API: "v2" });
      await apply();
      expect(serving()).toEqual([NEW, NEW, NEW]);
      await planned({ image: "me/llama:3", workersMax: 3 });
      await apply({ SERVERLESS_GPU_API: "v2" });
      expect(serving()).toEqual(["me/llama:3", "me/llama:3", "me/llama:3"]);
      await planned({ image: "me/llama:3", workersMax: 4 });
      end("410");
      await apply();
      expect(emulator.endpoints.list().map(({ workersMax }) => workersMax)).toEqual([4, 4, 4]);
    });
});
