import { sleep, systemClock } from "../../../sdk/contract/clock";

describe("the machine's clock", () => {
  test.each([
    2 ** 31,
    Number.MAX_SAFE_INTEGER,
    Number.POSITIVE_INFINITY,
  ])("the machine's clock does not end a delay of %p ms at once, although Node.js timers do not support such a delay", async (delayMs) => {
    const ended = jest.fn();
    const cancel = systemClock.schedule(delayMs, ended);
    await sleep(systemClock, 50);
    cancel();
    expect(ended).not.toHaveBeenCalled();
  });
});
