#!/usr/bin/env node
// The quickstart: applies the root's Pulumi project to an emulator, step by step, and shows the requests to the service.
const { ensurePulumi, describeEngine } = require("../pulumi-cli/ensurePulumi");
const { createStack } = require("./stack");
const { describeRequests } = require("./requests");

async function main() {
  const startedAt = Date.now();
  const engine = await ensurePulumi();
  console.log(describeEngine(engine));

  const { startEmulator } = require("pulumi-serverless-gpu/emulator");
  const emulator = await startEmulator({ drainMs: 1500 });
  console.log(`The emulator plays the service at ${emulator.url}; nothing leaves this machine.`);

  const stack = createStack(engine, emulator.env);
  process.once("SIGINT", () => stack.abort());

  /**
   * @param {string} title
   * @param {() => Promise<unknown>} work
   */
  async function step(title, work) {
    console.log(`\n━━ ${title}`);
    emulator.journal.clear();
    await work();
    console.log(describeRequests(emulator.journal.requests()));
  }

  try {
    await stack.pulumi("stack", "init", "demo");
    await step("Two endpoints are created", () => stack.pulumi("up", "--yes", "--skip-preview"));

    await stack.setConfig({ gpuIds: "ADA_24,AMPERE_24", locations: "RO,US", scalerValue: "8" });
    await step("The program changes: GPU tiers, locations, scaler. The preview shows each field", () =>
      stack.pulumi("preview", "--diff"),
    );
    await step("… and `up` changes the endpoint in place", () => stack.pulumi("up", "--yes", "--skip-preview"));

    const chat = emulator.endpoints.list().find(({ name }) => name.startsWith("chat"));
    if (!chat) throw new Error("the demo's endpoint is not in the emulator");
    emulator.endpoints.change(chat.id, { workersMax: 1, gpuIds: "AMPERE_80" });
    await step("Somebody changes the endpoint without Pulumi, and a refresh finds the drift", () =>
      stack.pulumi("refresh", "--preview-only", "--diff"),
    );
    await step("… and the next `up` repairs it", () => stack.pulumi("up", "--yes", "--skip-preview", "--refresh"));

    await step("Both endpoints are destroyed: scale to zero, wait until the workers have stopped, delete, verify", () =>
      stack.pulumi("destroy", "--yes", "--skip-preview"),
    );
    const left = emulator.endpoints.list().length;
    console.log(`\nEndpoints left at the service: ${left}. The demo took ${seconds(Date.now() - startedAt)}.`);
  } finally {
    stack.remove();
    await emulator.stop();
  }
}

/** @param {number} durationMs */
function seconds(durationMs) {
  return `${Math.round(durationMs / 1000)} s`;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
