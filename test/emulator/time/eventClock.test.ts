import { eventClock } from "../../../emulator/time/eventClock";

test("an event clock runs calls, and the calls that they schedule, in order and each at its own time", () => {
  const clock = eventClock(100);
  const seen: [string, number][] = [];
  const see = (name: string) => () => seen.push([name, clock.now()]);
  clock.schedule(20, see("b"));
  clock.schedule(10, () => {
    see("a")();
    clock.schedule(5, see("between"));
  });
  clock.schedule(20, see("c"));
  clock.schedule(15, see("cancelled"))();
  clock.runUntil(115);
  expect(seen).toEqual([
    ["a", 110],
    ["between", 115],
  ]);
  expect(clock.now()).toBe(115);
  clock.runToEnd();
  expect(seen.slice(2)).toEqual([
    ["b", 120],
    ["c", 120],
  ]);
  expect(clock.now()).toBe(120);
});
