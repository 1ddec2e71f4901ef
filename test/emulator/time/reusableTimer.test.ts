import fc from "fast-check";
import { type EventClock, eventClock } from "../../../emulator/time/eventClock";
import { reusableTimer } from "../../../emulator/time/reusableTimer";
import type { EmulatorClock } from "../../../emulator/time/virtualClock";

const step = fc.oneof(
  fc.record({ type: fc.constant("set" as const), timer: fc.nat(2), delayMs: fc.nat(6) }),
  fc.record({ type: fc.constant("schedule" as const), delayMs: fc.nat(6) }),
  fc.record({ type: fc.constant("cancel" as const), timer: fc.nat(2) }),
  fc.record({ type: fc.constant("pass" as const), ms: fc.nat(6) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Returns every call with its time. The first timer is set again by its own callback. */
function callsOf(clock: EventClock, timersOf: EmulatorClock, steps: readonly Step[]): [string, number][] {
  const calls: [string, number][] = [];
  const timers = [0, 1, 2].map((number) => {
    const timer = reusableTimer(timersOf, () => {
      calls.push([`timer ${number}`, clock.now()]);
      if (number === 0 && calls.length < 50) timer.set(3);
    });
    return timer;
  });
  steps.forEach((step, index) => {
    if (step.type === "set") timers[step.timer]?.set(step.delayMs);
    else if (step.type === "cancel") timers[step.timer]?.cancel();
    else if (step.type === "pass") clock.runUntil(clock.now() + step.ms);
    else clock.schedule(step.delayMs, () => calls.push([`call ${index}`, clock.now()]));
  });
  clock.runToEnd();
  calls.push(["end", clock.now()]);
  return calls;
}

test("a timer of an event clock calls as often, at the same times and in the same order as one that schedules each call", () => {
  const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const [own, plain] = [eventClock(0), eventClock(0)];
    const withoutTimers: EmulatorClock = {
      now: () => plain.now(),
      monotonic: () => plain.monotonic(),
      schedule: (delayMs, callback) => plain.schedule(delayMs, callback),
    };
    expect(callsOf(own, own, steps)).toEqual(callsOf(plain, withoutTimers, steps));
  });
  fc.assert(property, { numRuns: 500 });
});
