import { act } from "./actions.mjs";
import { button, byId, element, setText } from "./dom.mjs";
import { dateAndTime } from "./format.mjs";
import { now, state } from "./state.mjs";

const STEPS = /** @type {const} */ ([
  ["+1 s", 1000],
  ["+10 s", 10_000],
  ["+1 min", 60_000],
  ["+1 h", 3_600_000],
]);
/** The real time between two steps while a manual clock plays, in milliseconds. */
const PLAY_MS = 200;

const box = byId("clock");
const time = element("time");
const speed = element("span", { className: "badge" });
const play = button("Play", togglePlay, "Let a manual clock run, or pause it (p)");
const factor = element("select", { ariaLabel: "Speed of the clock while it plays" });
for (const each of [1, 10, 60]) factor.append(element("option", { value: String(each) }, `× ${each}`));
const tools = element("span", { className: "clock", hidden: true }, play, factor);
for (const [text, ms] of STEPS) tools.append(button(text, () => advance(ms), `Advance the clock by ${text.slice(1)}`));
tools.append(
  button(
    "Until idle",
    () => act("POST", "clock/run-until-idle"),
    "Advance the clock until no worker starts and no job runs",
  ),
);
box.append(time, speed, tools);

let isPlaying = false;

/** @param {number} ms */
export function advance(ms) {
  return state.clock.manual ? act("POST", "clock/advance", { ms }) : undefined;
}

export async function togglePlay() {
  if (!state.clock.manual) return;
  isPlaying = !isPlaying;
  while (isPlaying) {
    const startedAt = performance.now();
    if ((await advance(PLAY_MS * Number(factor.value))) === undefined) isPlaying = false;
    await new Promise((resolve) => setTimeout(resolve, PLAY_MS - (performance.now() - startedAt)));
  }
}

export function showClock() {
  const { manual, rate, isLost } = state.clock;
  setText(time, dateAndTime(now()));
  const running = rate === 1 ? "real time" : `× ${rate}`;
  const moved = isPlaying ? `manual, × ${factor.value}` : "manual, paused";
  setText(speed, isLost ? "stopped: no emulator" : manual ? moved : running);
  setText(play, isPlaying ? "Pause" : "Play");
  tools.hidden = !manual;
}
