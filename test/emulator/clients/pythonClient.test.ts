import { startEmulator } from "../../../emulator";
import { describeClients, runClient } from "../../support/realClients";

describeClients("python", "the service's Python client, unchanged, in the observed profile", () => {
  test("[save.observed-fields] [save.whole-scaler-value] [save.endpoint-template] [myself.user] the Python client manages endpoints", async () => {
    await using emulator = await startEmulator({ profile: "observed" });
    const output = await runClient(
      "python",
      `
import json, runpod
runpod.api_key = "${emulator.apiKey}"
made = runpod.create_endpoint(name="llama", template_id="t1", gpu_ids="ADA_24", scaler_value=3, workers_max=2,
                              flashboot=True, allowed_cuda_versions="12.4", gpu_count=2)
changed = runpod.update_endpoint_template(endpoint_id=made["id"], template_id="t2")
template = runpod.create_template(name="mine", image_name="image:1", is_serverless=True, env={"A": "b"})
print(json.dumps({
  "made": made, "changed": changed, "list": runpod.get_endpoints(), "user": runpod.get_user(),
  "gpus": runpod.get_gpus(), "gpu": runpod.get_gpu("NVIDIA GeForce RTX 4090"), "template": template["name"],
}))`,
      { RUNPOD_API_BASE_URL: emulator.url },
    );
    const id = expect.any(String);
    expect(output.made).toMatchObject({ id, scalerValue: 3, allowedCudaVersions: "12.4", gpuCount: 2 });
    expect(output.changed).toEqual({ id: output.made.id, templateId: "t2" });
    expect(output.list).toMatchObject([{ id: output.made.id, templateId: "t2", gpuCount: 2, type: "QB", env: [] }]);
    expect(output.user).toMatchObject({ id, networkVolumes: [] });
    expect(output.gpus.map((gpu: { id: string }) => gpu.id)).toContain("NVIDIA GeForce RTX 4090");
    expect(output.gpu).toMatchObject({ id: "NVIDIA GeForce RTX 4090", memoryInGb: 24 });
    expect(output.template).toBe("mine");
  });

  test("[graphql.pods] the Python client reads pods", async () => {
    const seed = {
      pods: [{ id: "pod-1", name: "trainer", image: "me/trainer:1", ports: ["22/tcp"], env: { A: "b" } }],
    };
    await using emulator = await startEmulator({ profile: "observed", seed });
    const output = await runClient(
      "python",
      `
import json, runpod
runpod.api_key = "${emulator.apiKey}"
print(json.dumps({"all": runpod.get_pods(), "one": runpod.get_pod("pod-1"), "none": runpod.get_pod("pod-2")}))`,
      { RUNPOD_API_BASE_URL: emulator.url },
    );
    const pod = { id: "pod-1", name: "trainer", imageName: "me/trainer:1", desiredStatus: "RUNNING", env: ["A=b"] };
    expect(output).toMatchObject({ all: [pod], one: { ...pod, ports: "22/tcp", gpuCount: 1 }, none: null });
  });

  test("the Python client submits, follows, streams and cancels jobs", async () => {
    const handlers = {
      worker: async function* ({ input }: { input: Readonly<Record<string, unknown>> }) {
        if (input.wait) await new Promise(() => {});
        yield "one";
        yield "two";
        return { echo: input.n };
      },
    };
    await using emulator = await startEmulator({ profile: "observed", handlers, coldStartMs: 0 });
    const { id } = emulator.endpoints.create({ name: "worker", gpuIds: "ADA_24", templateId: "t" });
    const output = await runClient(
      "python",
      `
import json, runpod
runpod.api_key = "${emulator.apiKey}"
endpoint = runpod.Endpoint("${id}")
job = endpoint.run({"input": {"n": 1}, "webhook": "http://127.0.0.1:9/", "policy": {"ttl": 60000}})
first = job.output(timeout=20)
streamed = list(endpoint.run({"n": 2}).stream())
sync = endpoint.run_sync({"input": {"n": 3}}, timeout=20)
waits = endpoint.run({"wait": True})
waits.cancel()
print(json.dumps({"first": first, "streamed": streamed, "sync": sync, "cancelled": waits.status(),
                  "health": endpoint.health(), "purged": endpoint.purge_queue()}))`,
      { RUNPOD_ENDPOINT_BASE_URL: `${emulator.url}/v2` },
    );
    expect(output).toMatchObject({
      first: { echo: 1 },
      streamed: ["one", "two"],
      sync: { echo: 3 },
      cancelled: "CANCELLED",
      health: { jobs: { completed: 3 } },
      purged: { removed: 0 },
    });
  });
});
