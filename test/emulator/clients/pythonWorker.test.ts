import path from "node:path";
import { describeClients, WORKER_PYTHON } from "../../support/realClients";
import { startRealWorkers, stopRealWorkers, until } from "../../support/realWorkers";

afterEach(stopRealWorkers);

const handler = (env = {}) => ({
  command: `'${WORKER_PYTHON}' handler.py`,
  cwd: path.resolve(__dirname, "../../support/workers"),
  env: { PYTHONDONTWRITEBYTECODE: "1", ...env },
});

describeClients("python", "the service's own worker library, unchanged", () => {
  test("[worker.take] [worker.done] [worker.progress] [worker.refresh] a Python worker runs jobs, shows progress, fails, and is replaced", async () => {
    const { runSync, run, job, output, emulator, endpointId } = await startRealWorkers(handler(), { idleTimeout: 1 });
    expect(await runSync({ echo: "grün" })).toMatchObject({ status: "COMPLETED", output: { echo: "grün" } });
    const failed = await runSync({ error: "CUDA out of memory" });
    expect(failed.status).toBe("FAILED");
    expect(JSON.parse(failed.error)).toMatchObject({ error_message: "CUDA out of memory", runpod_version: "1.12.0" });
    const id = await run({ progress: "10%", refresh: true });
    await until(async () => (await job(id)).output === "10%");
    await until(async () => (await job(id)).status === "COMPLETED");
    await until(() => emulator.endpoints.get(endpointId)?.pods.length === 0);
    expect(output("emulator").at(-1)).toMatch(/ended with exit code 0$/);
    expect(output("stdout").join("\n")).toContain("Starting Serverless Worker |  Version 1.12.0");
  });

  test("[worker.stream] a Python worker streams the items that a generator yields", async () => {
    const { runSync, get } = await startRealWorkers(handler({ HANDLER: "generate" }), {}, { profile: "observed" });
    const { id, status, output } = await runSync({ items: 3 });
    const numbers = [{ number: 0 }, { number: 1 }, { number: 2 }];
    expect([status, output]).toEqual(["COMPLETED", numbers]);
    const { stream } = await get(`stream/${id}`);
    expect(stream.map((item: { output: unknown }) => item.output)).toEqual(numbers);
  });

  test("the variables of the template reach the worker", async () => {
    const { runSync } = await startRealWorkers(
      handler(),
      { templateId: "generating" },
      {
        seed: {
          templates: [{ id: "generating", name: "g", imageName: "i:1", env: [{ key: "HANDLER", value: "generate" }] }],
        } as never,
      },
    );
    expect((await runSync({ items: 1 })).output).toEqual([{ number: 0 }]);
  });
});
