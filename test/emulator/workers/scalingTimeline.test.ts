import { readFileSync } from "node:fs";
import * as emulator from "../../../emulator";
import { drawTimeline, playTimeline, TIMELINE_FILE } from "../../../tools/scalingTimeline.js";

test("the picture of scaling in the documents is what the emulator plays (npm run docs:timeline)", async () => {
  expect(drawTimeline(await playTimeline(emulator))).toBe(readFileSync(TIMELINE_FILE, "utf8"));
});
