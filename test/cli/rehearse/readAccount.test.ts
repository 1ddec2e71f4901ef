import { merged } from "../../../cli/rehearse/readAccount";
import { noRecords } from "../../../cli/rehearse/seed";

test("A record that the account no longer has is missing in the rehearsal, unless it is of an explicit provider", () => {
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
