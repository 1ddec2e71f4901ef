import { rateLimitLogger } from "../../provider/engine/log";

test("a run that the rate limit delays prints one line a minute", () => {
  const lines: string[] = [];
  const print = jest.spyOn(console, "log").mockImplementation((line) => lines.push(line));
  let now = 0;
  const logger = rateLimitLogger(() => now);
  for (; now < 130_000; now += 10_000) logger({ waiting: 240, delayMs: 41_200 });
  print.mockRestore();
  expect(lines).toEqual(
    Array(3).fill("serverless-gpu: 240 requests wait for the service's rate limit, the next for 42 s"),
  );
});
