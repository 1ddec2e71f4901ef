import { type Evidence, type ServiceRefusal, seen } from "../../../sdk/diagnosis/evidence";
import {
  CLEAN,
  decided,
  evidence,
  gone,
  LIMITS,
  log,
  MINUTE,
  NONE,
  part,
  queue,
  refusal,
  START,
  starting,
  workers,
} from "../../support/diagnosisEvidence";

/** A log whose lines have times that cannot be read. */
const untimed = (given: Evidence["logs"]): Evidence["logs"] =>
  part((seen(given) ?? []).map((each) => ({ ...each, lines: each.lines.map((line) => ({ ...line, ts: "?" })) })));

describe("explain does not say too much", () => {
  const page = (is: ServiceRefusal["is"]) => ({ why: "an HTML page", failure: refusal(is, false) });
  test.each<[string, Evidence, string, string]>([
    [
      "a gateway's 401 and 403",
      evidence({ endpoint: page("refused"), queue: page("refused") }),
      "no-access",
      "possible",
    ],
    [
      "a web server's 404",
      evidence({ endpoint: page("absent"), queue: page("absent"), workers: NONE }),
      "unknown",
      "unknown",
    ],
    [
      "a 404 by id while the list contains it",
      evidence({ endpoint: gone, queue: gone, workers: NONE, listed: part(true) }),
      ...(["unknown", "unknown"] as const),
    ],
    [
      "busy workers beside an idle one",
      evidence({
        settings: { workersMax: 2 },
        workers: part(workers({ running: 2, idle: 1 })),
        queue: part(queue(4, 2, { running: 2, idle: 1 })),
      }),
      ...(["workers-busy", "possible"] as const),
    ],
    [
      "three running workers that the queue calls idle",
      evidence({ workers: part(workers({ running: 3 })), queue: part(queue(4, 3, { idle: 3 })) }),
      ...(["workers-busy", "possible"] as const),
    ],
    [
      "a worker that was stopped and started three times",
      evidence({
        workers: starting,
        logs: log(
          ...[0, 10, 20].flatMap((at) => [
            ["system", START, at] as const,
            ["system", "stop container", at + 3] as const,
            ["system", "remove container", at + 4] as const,
          ]),
        ),
      }),
      ...(["cold-start", "likely"] as const),
    ],
    [
      "one error of a job between two starts",
      evidence({
        workers: starting,
        logs: log(
          ["system", START],
          ["container", "job 1 ok", 1],
          ["container", "ValueError: bad prompt", 2],
          ["container", "job 2 ok", 3],
          ["container", "job 3 ok", 4],
          ["system", START, 50],
        ),
      }),
      ...(["cold-start", "likely"] as const),
    ],
    [
      "a pull that began three hours ago",
      evidence({
        workers: part(workers({ initializing: 1, startingMs: 180 * MINUTE })),
        logs: log(["system", "pulling image app:1", -3 * 3600]),
      }),
      ...(["crash-loop", "possible"] as const),
    ],
    [
      "a pull error before the image was there",
      evidence({
        workers: starting,
        logs: log(
          ["system", "error pulling image: toomanyrequests", -2880],
          ["system", "retrying", -2870],
          ["system", "Status: Image is up to date for app:1", -60],
          ["system", "create container", -55],
        ),
      }),
      ...(["cold-start", "likely"] as const),
    ],
    [
      "a quota that is allotted in whole",
      evidence({ ...CLEAN, limits: part({ ...LIMITS, workersUsed: 10 }), waitedMs: 3000 }),
      ...(["cold-start", "possible"] as const),
    ],
    [
      "a queue that is said to be missing although the settings show one",
      evidence({ queue: { why: "400", failure: refusal("no queue") } }),
      ...(["unknown", "unknown"] as const),
    ],
    [
      "starts without readable times",
      evidence({
        workers: starting,
        logs: untimed(log(["system", START], ["system", START, 9], ["system", START, 18])),
      }),
      ...(["cold-start", "likely"] as const),
    ],
    [
      "a pull error without a readable time",
      evidence({ workers: starting, logs: untimed(log(["system", "error pulling image: manifest unknown"])) }),
      ...(["image-pull", "likely"] as const),
    ],
    [
      "an empty queue, failed jobs, and a log of crashes",
      evidence({
        queue: part({ ...queue(0), failed: 200 }),
        workers: starting,
        logs: log(
          ...[0, 30, 60].flatMap((at) => [
            ["system", START, at] as const,
            ["container", "Traceback (most recent call last):", at + 1] as const,
          ]),
        ),
      }),
      ...(["crash-loop", "likely"] as const),
    ],
  ])("%s", (_, given, id, certainty) => {
    expect(decided(given)).toMatchObject({ causes: expect.arrayContaining([id]), certainty });
  });

  test("an unreadable queue proves neither that jobs wait nor that all is well", () => {
    expect(decided(evidence({ ...CLEAN, queue: { why: "503" } }))).toMatchObject({ causes: ["unknown"] });
  });
});
