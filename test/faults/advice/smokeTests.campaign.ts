import { HEAD, printed, startPlays, UP } from "./play";

/** Each test with a mistake, and after the advice was followed. */
const program = (args: Readonly<Record<"job" | "status" | "body" | "slow" | "queue", string>>) => `${HEAD}
new SmokeTest("job", { endpointId: "queue1", input: { prompt: "x" }, ${args.job} });
new SmokeTest("status", { endpointId: "app1", path: "/missing", ${args.status} });
new SmokeTest("body", { endpointId: "app1", path: "/x", ${args.body} });
new SmokeTest("slow", { endpointId: "app1", path: "/slow", ${args.slow} });
new SmokeTest("queue", { endpointId: "app1", ${args.queue} });
`;

test("smoke tests that failed pass after each advice was followed, and no job is left behind", async () => {
  const endpoint = { gpuIds: "AMPERE_24", templateId: "t" };
  await using account = await startPlays({
    handlers: {
      queue: async (_, { sleep }) => {
        await sleep(4_000);
        return { text: "4" };
      },
      app: {
        async fetch(request: Request) {
          const { pathname } = new URL(request.url);
          if (pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, 3_000));
          return new Response(pathname, { status: pathname === "/missing" ? 404 : 200 });
        },
      },
    },
    seed: {
      endpoints: [
        { ...endpoint, id: "queue1", name: "queue" },
        { ...endpoint, id: "app1", name: "app", type: "LB", scalerType: "REQUEST_COUNT" },
      ],
    },
  });
  const { stack, emulator } = account;
  await stack.writeProgram(
    program({
      job: "timeout: 1",
      status: "expectedStatus: 200",
      body: 'expectedBody: "/y"',
      slow: "timeout: 1",
      queue: 'input: { prompt: "x" }',
    }),
  );
  const failed = await stack.run([...UP, "--continue-on-error"]);
  expect(failed.exitCode).not.toBe(0);
  printed(
    failed,
    /did not end within 1 s, so this run cancelled it.* Check that the endpoint's workers start, or set a longer timeout/,
  );
  printed(failed, /has the status 404, not 200[\s\S]*?Check the worker program and expectedStatus/);
  printed(failed, /does not contain expectedBody[\s\S]*?Check the worker program and expectedBody/);
  printed(
    failed,
    /no response to GET \/slow.* Check that the endpoint's workers start and that \/ping returns 200, or set a longer timeout/,
  );
  printed(failed, /Set path instead of input/);
  await stack.writeProgram(
    program({
      job: "timeout: 60",
      status: "expectedStatus: 404",
      body: 'expectedBody: "/x"',
      slow: "timeout: 60",
      queue: 'path: "/x"',
    }),
  );
  await stack.up();
  await stack.preview("--expect-no-changes");
  expect(emulator.endpoints.list()).toHaveLength(2);
});
