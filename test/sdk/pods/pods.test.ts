import { createClient } from "../../../sdk/client/client";
import {
  AuthenticationError,
  InvalidInputError,
  NotFoundError,
  RejectedError,
  UnexpectedResponseError,
} from "../../../sdk/errors/errors";
import { CANARY, startEmulated, withoutCanary } from "../../support/emulated";
import { POD } from "../../support/podRecord";
import {
  addressesOf,
  type RecordedRequest,
  type ScriptedAnswer,
  startScriptedServer,
} from "../../support/scriptedServer";

/** A client of a server that gives each request the same response. */
async function clientOf(answer: ScriptedAnswer, options: { readonly maxAttempts?: number } = {}) {
  const server = await startScriptedServer(() => answer);
  const client = createClient({ apiKey: CANARY, ...addressesOf(server), retry: { maxAttempts: 1, ...options } });
  return {
    pods: client.pods,
    requests: server.requests as readonly RecordedRequest[],
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("the request for a pod", () => {
  test("the request for a pod is a GET of the pod's path with the key as Bearer token and no query [contract.find-pod]", async () => {
    await using emulated = await clientOf({ body: POD });
    await emulated.pods.get("pod-1");
    expect(emulated.requests).toHaveLength(1);
    const [request] = emulated.requests;
    expect(request).toMatchObject({ method: "GET", path: "/v1/pods/pod-1", query: {}, body: "" });
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${CANARY}`, accept: "application/json" });
    expect(request?.headers["user-agent"]).toMatch(/^serverless-gpu\//);
  });

  test.each([
    "includeMachine",
    "includeNetworkVolume",
    "includeSavingsPlans",
    "includeTemplate",
    "includeWorkers",
  ] as const)("the request for a pod includes %s only when the option is true [contract.find-pod-includes]", async (flag) => {
    await using emulated = await clientOf({ body: POD });
    await emulated.pods.get("pod-1", { [flag]: true });
    await emulated.pods.get("pod-1", { [flag]: false });
    expect(emulated.requests.map(({ query }) => query)).toEqual([{ [flag]: "true" }, {}]);
  });

  test("a response with another pod's record causes an error", async () => {
    await using emulated = await clientOf({ body: { ...POD, id: "pod-2" } });
    const error = withoutCanary(await emulated.pods.get("pod-1").catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toMatch(/^reading pod pod-1: .*id: it is the id of another pod/);
  });

  test.each([
    "",
    ".",
    "..",
    "a/b",
    "a%2Fb",
    "../endpoints",
    "a?x=1",
    "a#b",
    "a b",
    "a\n",
    "é",
    "a\\b",
    ".a",
    "a..b",
    "%2e%2e",
  ])("the request for a pod is never sent for the id %j", async (id) => {
    await using emulated = await clientOf({ body: POD });
    const error = await emulated.pods.get(id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ problems: [{ property: "podId" }] });
    expect(emulated.requests).toEqual([]);
  });

  test.each([
    undefined,
    null,
    5,
    {},
    ["pod"],
  ])("the request for a pod is never sent for an id that is not a string: %p", async (id) => {
    await using emulated = await clientOf({ body: POD });
    await expect(emulated.pods.get(id as never)).rejects.toThrow(InvalidInputError);
    expect(emulated.requests).toEqual([]);
  });
});

describe("a pod", () => {
  test("a pod is returned with every field of the contract [contract.pod-fields] [contract.gpu-fields] [contract.machine-fields] [contract.network-volume-fields] [contract.savings-plan-fields]", async () => {
    await using emulated = await clientOf({ body: POD });
    expect(await emulated.pods.get("pod-1")).toEqual(POD);
  });

  test("a pod may contain absent or null fields, new fields and new values [contract.pod-states]", async () => {
    const odd = { id: "pod-1", desiredStatus: "MIGRATING", publicIp: null, gpu: null, machine: {}, fresh: { a: 1 } };
    await using emulated = await clientOf({ body: odd });
    expect(await emulated.pods.get("pod-1")).toStrictEqual(odd);
  });

  test("a pod contains numbers even if the service sends numeric strings", async () => {
    const texts = {
      costPerHr: "0.740",
      adjustedCostPerHr: "0.69",
      memoryInGb: "62",
      gpu: { securePrice: "0.4", count: "2" },
    };
    await using emulated = await clientOf({ body: { ...POD, ...texts } });
    const pod = await emulated.pods.get("pod-1");
    expect(pod).toMatchObject({
      costPerHr: 0.74,
      adjustedCostPerHr: 0.69,
      memoryInGb: 62,
      gpu: { securePrice: 0.4, count: 2 },
    });
  });

  test("a pod contains its image, whichever field name the service uses", async () => {
    const { image, ...rest } = POD;
    await using emulated = await clientOf({ body: { ...rest, imageName: image } });
    const pod = await emulated.pods.get("pod-1");
    expect(pod.image).toBe(image);
    expect(pod).not.toHaveProperty("imageName");
  });

  test.each<[string, unknown, RegExp]>([
    ["has no id", { name: "x" }, /id: /],
    ["has an empty id", { ...POD, id: "" }, /id: /],
    ["has a price that is no number", { ...POD, costPerHr: "free" }, /costPerHr: /],
    ["is a list", [POD], /unexpected shape/],
    ["is null", null, /unexpected shape/],
  ])("a pod that %s causes an error", async (_what, body, message) => {
    await using emulated = await clientOf({ body });
    const error = withoutCanary(await emulated.pods.get("pod-1").catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toMatch(message);
  });

  test.each<[string, unknown]>([
    ["an unexpected shape", { id: "", env: { WORKER_KEY: "s3cret-value" }, name: "x" }],
    ["broken JSON", '{"id": "pod-1", "env": {"A": "b", "WORKER_KEY": "s3cret-value'],
  ])("a pod causes an error about %s that shows nothing of the pod's environment", async (_what, body) => {
    await using emulated = await clientOf({ body });
    const error = withoutCanary(await emulated.pods.get("pod-1").catch((reason: unknown) => reason));
    expect(`${error.message}${error.stack}`).not.toContain("s3cret-value");
  });
});

describe("a pod that cannot be had", () => {
  test.each<[string, ScriptedAnswer, new (message: string) => Error, RegExp]>([
    [
      "404",
      { status: 404, body: { error: "pod not found", status: 404 } },
      NotFoundError,
      /reading pod pod-1.*404.*pod not found/,
    ],
    ["400", { status: 400, body: { error: "bad", problems: ["podId is odd"] } }, RejectedError, /400.*podId is odd/],
    ["401", { status: 401, body: "" }, AuthenticationError, /401 \(no body\).*API key/],
  ])("a pod that cannot be had causes an error with the reason: %s", async (_what, answer, type, message) => {
    await using emulated = await clientOf(answer, { maxAttempts: 6 });
    const error = withoutCanary(await emulated.pods.get("pod-1").catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(message);
    expect(emulated.requests).toHaveLength(1);
  });

  test("a pod that is temporarily unavailable is requested again", async () => {
    await using emulated = await startEmulated();
    const { id } = emulated.emulator.pods.add({ id: "pod-1" });
    emulated.emulator.faults.add({ match: { operation: "getPod" }, effect: { status: 429 }, times: 3 });
    emulated.emulator.faults.add({ match: { operation: "getPod" }, effect: { reset: true }, times: 1 });
    expect(await emulated.run(emulated.client.pods.get(id))).toMatchObject({ id: "pod-1" });
    expect(emulated.calls()).toHaveLength(5);
  });
});

describe.each(["contract", "observed"] as const)("against the emulator (%s profile)", (profile) => {
  test("a seeded pod is found with the requested includes", async () => {
    await using emulated = await startEmulated({ emulator: { profile } });
    emulated.emulator.pods.add({ id: "pod-1", image: "org/image:tag", costPerHr: 0.5, machine: { location: "RO" } });
    expect(await emulated.run(emulated.client.pods.get("pod-1"))).toMatchObject({
      image: "org/image:tag",
      costPerHr: 0.5,
    });
    expect(await emulated.run(emulated.client.pods.get("pod-1"))).not.toHaveProperty("machine");
    const more = await emulated.run(
      emulated.client.pods.get("pod-1", { includeMachine: true, includeSavingsPlans: true }),
    );
    expect(more).toMatchObject({ machine: { location: "RO" }, savingsPlans: [] });
    expect(await emulated.failure(emulated.client.pods.get("pod-2"))).toBeInstanceOf(NotFoundError);
  });

  test("a worker of an endpoint is found with includeWorkers", async () => {
    await using emulated = await startEmulated({ emulator: { profile } });
    const { id } = emulated.emulator.endpoints.create({ name: "n", gpuIds: "ADA_24", templateId: "t", workersMin: 1 });
    const worker = emulated.emulator.endpoints.get(id)?.pods[0]?.id ?? "";
    expect(await emulated.failure(emulated.client.pods.get(worker))).toBeInstanceOf(NotFoundError);
    expect(await emulated.run(emulated.client.pods.get(worker, { includeWorkers: true }))).toMatchObject({
      endpointId: id,
      aiApiId: id,
    });
  });
});
