import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { IS_EVERYWHERE } from "../../support/everywhere";
import { startPlay } from "../../support/play";

const HOUR_MS = 3_600_000;
/** `npm run test:everywhere` plays a week. */
const DAYS = IS_EVERYWHERE ? 7 : 4;

/** Returns the used heap after a collection, in MB. */
function heapMb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10;
}

test(`the exporter's memory does not grow over ${DAYS} virtual days`, async () => {
  const endpoints = Array.from({ length: 3 }, (_, at) => ({
    id: `endpoint${at}`,
    name: `llama-${at}`,
    templateId: "t",
    gpuIds: "ADA_24",
    workersMin: 1,
  }));
  await using play = await startPlay({ api: "v2", emulator: { seed: { endpoints } }, healthEveryMs: 60_000 });
  const heaps: number[] = [];
  for (let hour = 1; hour <= DAYS * 24; hour++) {
    await play.submit("endpoint0");
    await play.advance(HOUR_MS);
    await play.scrape();
    // The journal is the emulator's memory, not the exporter's.
    play.emulator.journal.clear();
    if (hour % 24 === 0) heaps.push(heapMb());
  }
  process.stdout.write(`heap after each day, in MB: ${heaps.join(", ")}\n`);
  expect((heaps.at(-1) as number) - (heaps[1] as number)).toBeLessThan(DAYS - 2);
}, 1_800_000);
