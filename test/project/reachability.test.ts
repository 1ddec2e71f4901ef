import path from "node:path";
import { importsOf, loadedBy, packageOf } from "../support/importGraph";
import { sourceFiles } from "../support/sources";

test("the plugin imports only the protocol and types from Pulumi", () => {
  const values = sourceFiles("plugin").flatMap((file) => importsOf(file).filter(({ typeOnly }) => !typeOnly));
  const fromPulumi = values.map(({ specifier }) => specifier).filter((each) => packageOf(each) === "@pulumi/pulumi");
  expect(fromPulumi).toContain("@pulumi/pulumi/proto/provider_pb");
  expect(fromPulumi.filter((each) => !each.startsWith("@pulumi/pulumi/proto/"))).toEqual([]);
  const { files } = loadedBy("provider/functions/sources.ts");
  expect(
    [...files].flatMap((file) => [...loadedBy(file).packages]).filter((name) => name.startsWith("@pulumi/")),
  ).toEqual([]);
});

describe("the handlers, and all files that they load", () => {
  test("import no values from Pulumi", () => {
    const { files, packages } = loadedBy("provider/handlers.ts");
    expect([...files]).toEqual(
      expect.arrayContaining([
        "provider/endpoint/endpointInputs.ts",
        "sdk/endpoints/endpoints.ts",
        "sdk/errors/secretText.ts",
      ]),
    );
    expect([...packages].filter((name) => name.startsWith("@pulumi/"))).toEqual([]);
    // The same search finds Pulumi in the files that use it.
    expect([...loadedBy("provider/dynamic/resources/serverlessEndpoint.ts").packages]).toContain("@pulumi/pulumi");
  });

  test("load from the code for jobs and logs only the parts that health, smoke tests, rollouts and diagnoses use", () => {
    const { files } = loadedBy("provider/handlers.ts");
    const loaded = (folder: string) =>
      [...files].filter((file) => path.posix.dirname(file) === folder).map((file) => path.posix.basename(file, ".ts"));
    expect(loaded("sdk/jobs").sort()).toEqual([
      // A smoke test's job: it is submitted, polled and, with an abort, cancelled.
      "idScanner",
      "jobErrors",
      "jobHandle",
      "jobHandleOptions",
      "jobLifetime",
      "jobOutput",
      "jobQueue",
      "jobRecord",
      // `JobHandle.stream` is a method, so its module comes with it.
      "jobRequest",
      "jobStream",
      "operations",
      "poller",
      "queueTransport",
      "statusChanges",
      "submit",
    ]);
    // The last lines of workers, for a diagnosis and for the error of a release that failed.
    expect(loaded("sdk/logs").sort()).toEqual(["logs", "merge", "redactLine", "tails", "workerLog"]);
    for (const folder of ["sdk/journal", "sdk/recording", "sdk/webhooks"]) expect(loaded(folder)).toEqual([]);
    // The same search finds what the whole client loads.
    expect([...loadedBy("sdk/client/client.ts").files]).toEqual(
      expect.arrayContaining(["sdk/batches/batch.ts", "sdk/openai/openai.ts", "sdk/logs/logs.ts"]),
    );
  });

  /** Loads modules anew in `use`, in which an import of the package throws. */
  async function without(name: string, message: string, use: () => Promise<void>): Promise<void> {
    jest.doMock(name, () => {
      throw new Error(message);
    });
    await jest.isolateModulesAsync(async () => {
      const { v1 } = require("../../provider/handlers") as typeof import("../../provider/handlers");
      const inputs = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };
      expect(await v1.check?.({}, inputs)).toMatchObject({ inputs, failures: [] });
      await use();
    });
    jest.dontMock(name);
  }

  test("load without Pulumi, like the client", () =>
    without("@pulumi/pulumi", "Pulumi was loaded", async () => {
      expect(require("../../sdk")).toHaveProperty("createClient");
      expect(() => require("../../provider/dynamic/resources/serverlessEndpoint")).toThrow("Pulumi was loaded");
    }));

  test("load no HTTP client before the first request, and programs load none before their first data source", () =>
    without("undici/index.js", "undici was loaded", async () => {
      expect(require("../../provider")).toHaveProperty("ServerlessEndpoint");
      expect(() => require("../../sdk/transport/agents")).toThrow("undici was loaded");
    }));
});
