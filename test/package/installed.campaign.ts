import manifest from "../../package.json";
import { DEVELOPED_WITH, type InstalledProject, installProject, upAndDestroy } from "./installed";
import { runProgram, SDK_EXPECTED, SDK_PROGRAMS } from "./packed";
import { checkTypes } from "./types";

jest.setTimeout(300_000);

const ENTRY_POINTS = Object.keys(manifest.exports).map((name) => `pulumi-serverless-gpu${name.slice(1)}`);

/** Programs that print the names that each entry point exports. */
const LOADING = {
  "load.cjs": `
    const names = ${JSON.stringify(ENTRY_POINTS)}.map((name) => Object.keys(require(name)));
    console.log(JSON.stringify(names));`,
  "load.mjs": `
    const attributes = (name) => (name.endsWith(".json") ? { with: { type: "json" } } : {});
    const modules = ${JSON.stringify(ENTRY_POINTS)}.map((name) => import(name, attributes(name)));
    console.log(JSON.stringify((await Promise.all(modules)).map((module) => Object.keys(module.default ?? module))));`,
};

const EXPORTS = ["ServerlessEndpoint", "createClient", "startEmulator", "v1", "version"];

const TYPED = `
  import * as pulumi from "@pulumi/pulumi";
  import { type GetPodResult, getPodOutput, ServerlessEndpoint } from "pulumi-serverless-gpu";
  import { createClient } from "pulumi-serverless-gpu/sdk";
  import { startEmulator } from "pulumi-serverless-gpu/emulator";
  const llama = new ServerlessEndpoint("llama", { gpuIds: ["AMPERE_24", "HOPPER_141"], templateId: "t" });
  export const queueUrl: pulumi.Output<string> = llama.queueUrl;
  const pod: pulumi.Output<GetPodResult> = getPodOutput({ podId: llama.endpointId });
  export const status: pulumi.Output<string> = pod.apply(({ desiredStatus }) => desiredStatus ?? "none");
  // @ts-expect-error: the name of a GPU pool is a string
  new ServerlessEndpoint("llama", { gpuIds: 24, templateId: "t" });
  // @ts-expect-error: the id of a template is a string
  new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", templateId: 5 });
  export const things = [createClient, startEmulator];`;

describe.each(["npm", "pnpm"] as const)("the packed package, installed with %s", (manager) => {
  let project: InstalledProject;

  beforeAll(async () => {
    project = await installProject(manager, DEVELOPED_WITH);
  });

  afterAll(() => project?.dispose());

  test.each(Object.entries(LOADING))("the packed package can be loaded: %s", async (name, text) => {
    const exported = (await runProgram(project.folder, name, text)) as string[][];
    expect(exported).toEqual(EXPORTS.map((expected) => expect.arrayContaining([expected])));
  });

  test.each(Object.entries(SDK_PROGRAMS))("the packed package has a client that works: %s", async (name, text) => {
    expect(await runProgram(project.folder, name, text)).toEqual(SDK_EXPECTED);
  });

  test("the packed package has types for every kind of program", async () => {
    await checkTypes(project.folder, TYPED);
  });

  test("the packed package has a command", async () => {
    expect(await project.run("serverless-gpu", "--version")).toBe(`${manifest.version}\n`);
    // Each emulator draws its own key and hands it to the command.
    const printed = await project.run("serverless-gpu", "emulator", "exec", "--", "printenv", "SERVERLESS_GPU_API_KEY");
    expect(printed).toMatch(/^\S{20,}\n$/);
    expect(printed.trim()).not.toBe(project.emulator.env.SERVERLESS_GPU_API_KEY);
  });

  test("the packed package finds its own files: the threads of a forecast, and the emulator's page", async () => {
    const flags = ["--generate", "constant:10/m", "--duration", "8s", "--set", "workersMax=2", "--json"];
    const forecast = JSON.parse(await project.run("serverless-gpu", "forecast", ...flags));
    expect(forecast).toMatchObject({ results: [{ runs: 20 }] });
    const look = `fetch(new URL("/", process.env.SERVERLESS_GPU_REST_URL)).then(async (page) => console.log(page.status, await page.text()))`;
    const page = await project.run("serverless-gpu", "emulator", "exec", "--", "node", "-e", look);
    expect(page).toMatch(/^200 <!doctype html>/i);
  });

  test("applies and destroys a program with the real engine", () => upAndDestroy(project));
});
