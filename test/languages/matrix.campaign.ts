import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { heldJob, occupyWorker } from "../support/heldWorker";
import { LANGUAGES, prepareProgram, prepareSdk } from "./languages";
import { cell, documentedTable, table } from "./matrix";
import { ARCHIVE, VERSION } from "./plugin";

const ENDPOINT = "serverless-gpu:index:ServerlessEndpoint";
const TOKEN = "token-canary-7731";
const OTHER_KEY = "other-key-canary-7732";

/** Time to wait for a drain to begin. */
const GIVE_UP_AFTER_MS = 120_000;

async function install(stack: PulumiStack): Promise<void> {
  await stack.succeed(["plugin", "install", "resource", "serverless-gpu", VERSION, "--file", ARCHIVE]);
}

const changes = ({ journal }: Emulator) =>
  journal.operations().filter((operation) => !/^(myself|list|get)/.test(operation));

describe.each(LANGUAGES)("$title", (language) => {
  const job = heldJob();
  let own: Emulator;
  let other: Emulator;
  let stack: PulumiStack;

  beforeAll(async () => {
    own = await startEmulator({ profile: "contract", drainMs: 100, handlers: { default: job.handler } });
    other = await startEmulator({ profile: "contract", apiKey: OTHER_KEY, drainMs: 100 });
    await prepareSdk(language);
    stack = await createStack({ folder: await prepareProgram(language), env: { ...own.env, ...language.env } });
    await install(stack);
    await stack.setConfig({ token: TOKEN, otherKey: OTHER_KEY }, { secret: true });
    await stack.setConfig({ workersMax: "2", otherUrl: other.url });
  });

  beforeEach(() => own.journal.clear());

  afterAll(() => Promise.all([own?.stop(), other?.stop()]));

  const endpoint = () => {
    const [found] = own.endpoints.list();
    if (!found) throw new Error("the emulator has no endpoint");
    return found;
  };
  const endpointsInState = async () =>
    (await stack.exportState()).deployment.resources?.filter(({ type }) => type === ENDPOINT) ?? [];

  cell(language, "up", async () => {
    await stack.up();
    const { id, name } = endpoint();
    expect(endpoint()).toMatchObject({ gpuIds: "ADA_24,AMPERE_24,-NVIDIA L4", locations: "CZ,RO", workersMax: 2 });
    expect(endpoint().templateId).toBe(own.templates.list()[0]?.id);
    expect(await stack.outputs()).toEqual({
      name,
      queueUrl: `${own.url}/v2/${id}`,
      found: ["ADA_24", "AMPERE_24", "-NVIDIA L4"],
      token: TOKEN,
    });
    expect(name).toMatch(/^endpoint-[0-9a-f]{7}$/);
  });

  cell(language, "no change", async () => {
    await stack.preview("--refresh", "--expect-no-changes");
    await stack.up("--expect-no-changes");
    expect(changes(own)).toEqual([]);
  });

  cell(language, "field diff", async () => {
    const { id } = endpoint();
    await stack.setConfig({ workersMax: "3" });
    const { output } = await stack.preview("--diff");
    expect(output).toMatch(/~ workersMax *: 2 => 3/);
    expect(changes(own)).toEqual([]);
    await stack.up();
    expect(changes(own)).toEqual(["saveEndpoint"]);
    expect(endpoint()).toMatchObject({ id, workersMax: 3 });
  });

  cell(language, "drift", async () => {
    const { id } = endpoint();
    own.endpoints.change(id, { gpuIds: "ADA_24,AMPERE_48", workersMax: 1 });
    const drift = await stack.run(["refresh", "--preview-only", "--expect-no-changes", "--diff"]);
    expect(drift.exitCode).toBe(7);
    expect(drift.output).toMatch(/~ workersMax *: 3 => 1/);
    expect(drift.output).toMatch(/~ \[1\]: "AMPERE_24" => "AMPERE_48"/);
    await stack.up("--refresh");
    expect(endpoint()).toMatchObject({ id, gpuIds: "ADA_24,AMPERE_24,-NVIDIA L4", workersMax: 3 });
    await stack.preview("--refresh", "--expect-no-changes");
  });

  cell(language, "explicit provider", async () => {
    expect(other.endpoints.list()).toMatchObject([{ name: "other", gpuIds: "AMPERE_16", templateId: "template-2" }]);
    expect(own.endpoints.list()).toHaveLength(1);
    expect(await endpointsInState()).toHaveLength(2);
  });

  cell(language, "secrets", async () => {
    expect(own.templates.list()).toMatchObject([
      {
        env: [
          { key: "MODEL", value: "llama-3" },
          { key: "TOKEN", value: TOKEN },
        ],
      },
    ]);
    const outputs = [
      await stack.run(["stack", "output"]),
      await stack.run(["preview", "--diff", "--refresh"]),
      await stack.run(["up", "--yes", "--diff"]),
      await stack.run(["stack", "export"]),
    ];
    for (const { output } of outputs) expect(output).not.toMatch(/canary/);
    for (const [file, text] of await stack.files()) {
      for (const secret of [TOKEN, OTHER_KEY, own.apiKey]) {
        if (text.includes(secret)) throw new Error(`${file} holds a secret`);
      }
    }
  });

  cell(language, "cancel", async () => {
    const { id } = endpoint();
    await occupyWorker(own, id);
    const destroying = stack.run(["destroy", "--yes", "--skip-preview", "--run-program"]);
    const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
    while (!own.journal.operations().includes("saveEndpoint")) {
      if (performance.now() > giveUpAt) throw new Error("the endpoint was not scaled to zero");
      await sleep(50);
    }
    const engine = (await stack.processes()).find(({ command }) => /(^|\/)pulumi destroy /.test(command));
    if (!engine) throw new Error("the engine has ended");
    const cancelledAt = performance.now();
    process.kill(engine.pid, "SIGINT");
    expect((await destroying).exitCode).not.toBe(0);
    expect(performance.now() - cancelledAt).toBeLessThan(20_000);
    // The workers from before the deletion.
    expect(endpoint()).toMatchObject({ id, workersMax: 3 });
    expect((await endpointsInState()).map((each) => each.id)).toContain(id);
  });

  cell(language, "destroy", async () => {
    job.release();
    await stack.destroy();
    expect([own, other].flatMap(({ endpoints, templates }) => [...endpoints.list(), ...templates.list()])).toEqual([]);
    expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
  });

  cell(language, "import", async () => {
    const { id } = own.endpoints.create({
      name: "by hand",
      gpuIds: "AMPERE_24,ADA_24",
      templateId: "template-3",
      locations: "CZ",
      workersMax: 4,
    });
    const importing = ["import", ENDPOINT, "imported", "--yes", "--skip-preview", "--protect=false"];
    const unknown = await stack.run([...importing.with(2, "unknown"), "nosuchendpoint"]);
    expect(unknown.exitCode).not.toBe(0);
    expect(unknown.output).toContain("nosuchendpoint");

    await stack.succeed([...importing, id, "--out", "imported"]);
    const definitions = await readFile(path.join(stack.folder, "imported"), "utf8");
    await stack.writeFile(language.program, language.importing(definitions));
    await language.compile(stack.folder);
    await stack.preview("--refresh", "--expect-no-changes");
    expect(changes(own)).toEqual([]);
    await stack.destroy();
    expect(own.endpoints.list()).toEqual([]);
  });
});

test("the documents have this table", async () => {
  await writeFile(path.join(path.dirname(ARCHIVE), "../table.md"), `${table().join("\n")}\n`);
  expect(documentedTable()).toEqual(table());
});
