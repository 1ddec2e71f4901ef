// Takes the pictures of the emulator's page for the documentation: three endpoints under load,
// light and dark.
const path = require("node:path");
const { chromium } = require("playwright-core");
const { manualClock, startEmulator } = /** @type {typeof import("../emulator")} */ (
  // Not a literal, so that types do not depend on when the package was built.
  require(path.join(__dirname, "../dist/emulator"))
);

const FOLDER = path.join(__dirname, "../docs/images");
/** Makes the pictures the same on every run. */
const RANDOM_SEED = 7;
const STEP_MS = 200;
const STEPS = 222;

const base = { gpuIds: "AMPERE_24,ADA_24", templateId: "template-1" };
/** @type {import("../emulator").EndpointSeed[]} */
const endpoints = [
  { ...base, id: "chat7c1k2m9x4q", name: "llama-chat", scalerType: "REQUEST_COUNT", scalerValue: 2, workersMax: 3 },
  { ...base, id: "asr3v8n5t0w6hy", name: "whisper-large-v3", scalerValue: 1, workersMax: 4, idleTimeout: 4 },
  { ...base, id: "sdxl9b4r7p2zek", name: "sdxl-turbo", workersMin: 1, workersMax: 2, flashBootType: "FLASHBOOT" },
];

/** @type {import("../emulator").Handler} */
async function work(job, { sleep, random, crash }) {
  await sleep(300 + random() * 1500);
  const chance = random();
  if (chance < 0.05) throw new Error("CUDA out of memory");
  if (chance < 0.08) crash();
  return { text: "done", given: job.input };
}

async function main() {
  const clock = manualClock(Date.UTC(2030, 0, 1, 12));
  const emulator = await startEmulator({
    clock,
    coldStartMs: 3000,
    profile: "observed",
    randomSeed: RANDOM_SEED,
    rateLimits: { limits: "off" },
    seed: { endpoints },
    handlers: { default: work },
  });
  emulator.faults.add({ effect: { status: 503 }, match: { interface: "queue", operation: "health" } });
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const pages = [await open(browser, emulator.url, "light"), await open(browser, emulator.url, "dark")];
    await load(emulator, clock);
    for (const [page, name] of pages) {
      await page.bringToFront();
      await page.waitForTimeout(3000);
      await page.screenshot({ path: path.join(FOLDER, `emulator-page-${name}.jpg`), type: "jpeg", quality: 70 });
    }
  } finally {
    await browser.close();
    await emulator.stop();
  }
}

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {"light" | "dark"} colorScheme
 * @returns {Promise<[import("playwright-core").Page, string]>}
 */
async function open(browser, url, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme, timezoneId: "UTC" });
  await page.goto(url);
  await page.getByText("live", { exact: true }).waitFor();
  return [page, colorScheme];
}

/**
 * Sends jobs in waves.
 * @param {import("../emulator").Emulator} emulator
 * @param {import("../emulator").ManualClock} clock
 */
async function load({ url, apiKey }, clock) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  let noise = RANDOM_SEED;
  const random = () => {
    noise = (noise * 16807) % 2147483647;
    return noise / 2147483647;
  };
  for (let step = 0; step < STEPS; step++) {
    for (const [index, { id }] of endpoints.entries()) {
      const isBusy = Math.sin(step / 28 + index * 1.3) > 0;
      if (random() > (isBusy ? 0.34 : 0.06)) continue;
      await fetch(`${url}/v2/${id}/run`, { method: "POST", headers, body: '{"input":{"prompt":"Hello"}}' });
      if (random() < 0.15) await fetch(`${url}/v2/${id}/health`, { headers });
    }
    await clock.advance(STEP_MS);
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
