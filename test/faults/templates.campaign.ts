import { startEmulator } from "../../emulator";
import { createStack } from "../pulumi/harness";

const COUNT = Number(process.env.FAULTS_TEMPLATES ?? 100);

const program = (tag: string) => `
const { ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
for (let i = 0; i < ${COUNT}; i++) {
  const template = new ServerlessTemplate("t" + i, { imageName: "ghcr.io/me/app:${tag}", env: { MODE: "m" + i, TOKEN: "token-" + i + "-value" } });
  new ServerlessEndpoint("e" + i, { gpuIds: "ADA_24", templateId: template.id, templateRevision: template.revision, workersMax: 1 });
}
`;

test(`${COUNT} templates and ${COUNT} endpoints share their lists`, async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const stack = await createStack({ program: program("1"), env: emulator.env });
  const figures: Record<string, object> = {};
  const measure = async (name: string, ...args: string[]) => {
    emulator.journal.clear();
    const startedAt = performance.now();
    await stack.succeed(args);
    const operations = emulator.journal.operations();
    const count = (wanted: (operation: string) => boolean) => operations.filter(wanted).length;
    figures[name] = {
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      lists: count((operation) => operation === "myself"),
      writes: count((operation) => operation !== "myself"),
    };
    return figures[name] as { lists: number; writes: number };
  };
  const up = ["up", "--yes", "--skip-preview", "--parallel", "50"];
  const created = await measure("create", ...up);
  const state = JSON.stringify(await stack.exportState());
  const same = await measure("no change", "preview", "--expect-no-changes");
  const refreshed = await measure("refresh", "refresh", "--yes", "--skip-preview");
  await stack.writeProgram(program("2"));
  const changed = await measure("new image", ...up);
  const destroyed = await measure("destroy", "destroy", "--yes", "--skip-preview", "--parallel", "50");
  console.info(
    JSON.stringify({ ...figures, stateBytes: state.length, bytesPerPair: Math.round(state.length / COUNT) }, null, 1),
  );
  expect(created.writes).toBe(2 * COUNT);
  expect(same).toMatchObject({ lists: 0, writes: 0 });
  expect(refreshed.lists).toBeLessThanOrEqual(4);
  expect(changed.writes).toBe(COUNT);
  // Each endpoint needs a save and a deletion, each template a deletion.
  expect(destroyed.writes).toBe(3 * COUNT);
  // A few for each wave of deletions.
  expect(destroyed.lists).toBeLessThan(COUNT);
  expect(emulator.endpoints.list().length + emulator.templates.list().length).toBe(0);
}, 1_800_000);
