#!/usr/bin/env node
// The quickstart: applies the root's Pulumi project to an emulator, step by step, and shows what
// changes at the service.
require("../requireInstalled");

const { ensurePulumi, describeEngine } = require("../pulumi-cli/ensurePulumi");
const { shellWithEmulator } = require("../shellWithEmulator");
const { createStack } = require("./stack");
const { changesBetween, changesIn } = require("./changes");
const { describeRequests, summarizeRequests } = require("./requests");
const { style } = require("./style");

const VERBOSE = process.argv.includes("--verbose");

async function main() {
  const engine = await ensurePulumi();
  const startedAt = Date.now();
  const { startEmulator } = require("pulumi-serverless-gpu/emulator");
  const emulator = await startEmulator({ profile: "contract", drainMs: 1500 });
  console.log(
    style.faint(`${describeEngine(engine)}\nThe emulator stands in for the service: nothing leaves this machine.`),
  );

  const stack = createStack(engine, emulator.env, VERBOSE);
  process.once("SIGINT", () => stack.abort());
  let number = 0;
  /** The API that the next steps use, if it is not the project's. */
  let api = "";

  /**
   * Runs a Pulumi command and shows its effect on the service, or its output if it changes nothing
   * there.
   * @param {string} title
   * @param {...string} args
   */
  async function step(title, ...args) {
    emulator.journal.clear();
    const before = emulator.endpoints.list();
    const start = Date.now();
    if (VERBOSE) console.log(`\n${style.bold(title)}`);
    const output = await stack.pulumi(args, { SERVERLESS_GPU_API: api });
    const time = `${((Date.now() - start) / 1000).toFixed(1)} s`;
    const shown = args.filter((arg) => arg !== "--yes" && arg !== "--skip-preview");
    const command = [...(api ? [`SERVERLESS_GPU_API=${api}`] : []), "pulumi", ...shown].join(" ");
    console.log(`${style.bold(`${++number}. ${title}`)}  ${style.faint(`${command}, ${time}`)}`);
    const changes = changesBetween(before, emulator.endpoints.list());
    for (const change of changes.length > 0 ? changes : changesIn(output)) console.log(`   ${style.change(change)}`);
    const requests = emulator.journal.requests();
    console.log(VERBOSE ? describeRequests(requests) : style.faint(`   ${summarizeRequests(requests)}`));
  }

  try {
    await stack.prepare();
    await step("Create an endpoint", "up", "--yes", "--skip-preview");
    await stack.setConfig({ gpuIds: "ADA_24,AMPERE_24", locations: "EU-RO-1,US-KS-2", scalerValue: "8" });
    await step("The program changes: preview it", "preview", "--diff");
    await step("Change it in place", "up", "--yes", "--skip-preview");

    const chat = emulator.endpoints.list().find(({ name }) => name.startsWith("chat"));
    if (!chat) throw new Error("the demo's endpoint is not in the emulator");
    emulator.endpoints.change(chat.id, { workersMax: 1, gpuIds: "AMPERE_80" });
    await step("Someone else changed it: find the drift", "refresh", "--preview-only", "--diff");
    await step("Repair the drift", "up", "--yes", "--skip-preview", "--refresh");
    const again = ["up", "--yes", "--skip-preview", "--refresh", "--expect-no-changes"];
    api = "v2";
    await step("Move the stack to REST v2: no change", ...again);
    api = "";
    await step("And back to GraphQL: no change", ...again);
    await step("Destroy: scale to zero, wait for the workers, delete, verify", "destroy", "--yes", "--skip-preview");
    const left = emulator.endpoints.list().length;
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    console.log(`Endpoints left at the service: ${left}. The demo took ${seconds} s.`);
    console.log(`To use this pulumi yourself: npm run new ../llama, then ${shellWithEmulator("../llama")}`);
    if (!VERBOSE) console.log(style.faint("All output of Pulumi, and each request: npm run demo -- --verbose"));
  } finally {
    stack.remove();
    await emulator.stop();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
