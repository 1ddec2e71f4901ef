import { merged } from "../../../../cli/check/rehearsal/readAccount";
import { noRecords, recordsOfState } from "../../../../cli/check/rehearsal/seed";

test("A record that no longer exists in the account is missing in the rehearsal, unless it belongs to an explicit provider", () => {
  const [ofState, ofAccount] = [noRecords(), noRecords()];
  ofState.endpoints.set("gone", { name: "gone", __account: "runpod 0123456789ab" });
  ofState.endpoints.set("eu", { name: "eu", __account: "runpod 0123456789ab eu" });
  ofState.endpoints.set("edited", {
    name: "edited",
    workersMax: 2,
    imageName: "me/app:1",
    __account: "runpod 0123456789ab",
  });
  ofAccount.endpoints.set("edited", { name: "edited", workersMax: 5 });
  ofAccount.endpoints.set("other", { name: "other" });
  const { endpoints } = merged(ofState, ofAccount);
  expect([...endpoints.keys()].sort()).toEqual(["edited", "eu", "other"]);
  expect(endpoints.get("edited")).toMatchObject({ workersMax: 5, imageName: "me/app:1" });
});

test("A managed endpoint keeps the template recorded in state, because REST v2 returns an image instead", () => {
  const [ofState, ofAccount] = [noRecords(), noRecords()];
  ofState.endpoints.set("v2", { name: "v2", templateId: "shared", __account: "runpod 0123456789ab" });
  ofState.endpoints.set("moved", { name: "moved", templateId: "old", __account: "runpod 0123456789ab" });
  ofAccount.endpoints.set("v2", { name: "v2", templateId: "", imageName: "me/app:1" });
  ofAccount.endpoints.set("moved", { name: "moved", templateId: "new" });
  const { endpoints } = merged(ofState, ofAccount);
  expect(endpoints.get("v2")).toMatchObject({ templateId: "shared", imageName: undefined });
  expect(endpoints.get("moved")).toMatchObject({ templateId: "new" });
});

test("A record is missing in the rehearsal if its replacement was interrupted after the deletion", () => {
  const endpoint = (name: string) => ({
    urn: `urn:pulumi:dev::p::serverless-gpu:index:ServerlessEndpoint::${name}`,
    type: "serverless-gpu:index:ServerlessEndpoint",
    id: name,
    outputs: { name },
  });
  const { endpoints } = recordsOfState([endpoint("kept"), { ...endpoint("replaced"), pendingReplacement: true }]);
  expect([...endpoints.keys()]).toEqual(["kept"]);
});
