import { checkNames, readLists } from "../../cli/doctor/names";
import { startEmulated } from "../support/emulated";

test("doctor names an endpoint that the service cannot return over GraphQL, with the field", async () => {
  await using site = await startEmulated({ emulator: { profile: "observed" }, client: { service: "runpod" } });
  for (const id of ["a", "b"]) site.emulator.endpoints.create({ id, name: id, gpuIds: "ADA_24", templateId: "t" });
  site.emulator.endpoints.change("b", { scalerValue: 0.5 });
  const lists = await site.run(readLists(site.client));
  expect(lists.endpoints).toMatchObject([{ id: "a" }]);
  expect(checkNames(lists)).toMatchObject({
    status: "warning",
    found: expect.stringMatching(/^endpoint b \("b"\) cannot be read: the service cannot return its field scalerValue/),
  });
});
