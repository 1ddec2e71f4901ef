import { readFileSync } from "node:fs";
import * as emulator from "../../../emulator";
import { drawTimeline, playTimeline, TIMELINE_FILE } from "../../../tools/scalingTimeline.js";

test("the scaling picture in the documentation matches the emulator (npm run docs:timeline)", async () => {
  expect(drawTimeline(await playTimeline(emulator))).toBe(readFileSync(TIMELINE_FILE, "utf8"));
});
