import { connectAccount } from "../../../sdk/client/connected";
import type { ManagementCalls } from "../../../sdk/client/management";
import { lackedCalls } from "../../../sdk/records/calls";
import { createCollection } from "../../../sdk/records/collection";
import { readersOf } from "../../../sdk/records/readers";
import { VOLUME } from "../../../sdk/volumes/volume";

test("an API may leave out the requests of a kind that it does not have", () => {
  type Given = Pick<ManagementCalls, "endpoints" | "templates" | "pods" | "catalog" | "diagnosis">;
  const accepts = (calls: Given): ManagementCalls => calls;
  expect(accepts).toBeDefined();
});

test("a call for a kind that the API does not have fails before any request, and names the other API", async () => {
  const { managed, close } = connectAccount({ apiKey: "key", graphqlUrl: "http://127.0.0.1:9", api: "graphql" });
  const volumes = readersOf(createCollection(managed, VOLUME, lackedCalls("graphql")));
  await expect(volumes.list()).rejects.toThrow(
    "the list of network volumes: this client uses the API graphql, which does not have this kind of record. Set SERVERLESS_GPU_API=v2",
  );
  await close();
});
