import { BusinessRuleError, InUseError, InvalidInputError } from "../../../sdk/errors/errors";
import { startEmulated } from "../../support/emulated";

const INPUT = { name: "models", size: 50, dataCenterId: "EU-RO-1" };

test("a volume can grow and be renamed in place, but never shrinks", async () => {
  await using service = await startEmulated();
  const { client, emulator } = service;
  const { id } = await service.run(client.volumes.create(INPUT));
  expect(await service.run(client.volumes.update(id, { size: 100 }))).toMatchObject({ name: "models", size: 100 });
  expect(await service.run(client.volumes.update(id, { name: "other" }))).toMatchObject({ name: "other", size: 100 });
  await expect(service.run(client.volumes.update(id, { size: 99 }))).rejects.toThrow(InvalidInputError);
  expect(emulator.volumes.get(id)?.size).toBe(100);
  expect(emulator.journal.operations({ operation: "updateNetworkVolume" })).toHaveLength(2);
});

test("a data center without volumes causes a business rule error, not a not-found error", async () => {
  await using service = await startEmulated();
  const failing = service.run(service.client.volumes.create({ ...INPUT, dataCenterId: "XX-YY-1" }));
  await expect(failing).rejects.toThrow(BusinessRuleError);
  await expect(failing).rejects.toThrow(/XX-YY-1.*Available data centers: .*EU-RO-1/);
});

test("a volume in use is not deleted, and a volume that no longer exists counts as deleted", async () => {
  await using service = await startEmulated();
  const { client, emulator } = service;
  const { id } = await service.run(client.volumes.create(INPUT));
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: "t", networkVolumeId: id });
  await expect(service.run(client.volumes.delete(id))).rejects.toThrow(InUseError);
  emulator.endpoints.delete("e1");
  await service.run(client.volumes.delete(id));
  await service.run(client.volumes.delete(id, { known: { name: INPUT.name } }));
  expect(emulator.volumes.list()).toEqual([]);
});

test.each([
  [{ size: 9 }, "size"],
  [{ size: 4097 }, "size"],
  [{ size: 10.5 }, "size"],
  [{ dataCenterId: "Romania" }, "dataCenterId"],
])("%j is refused before any request", async (wrong, property) => {
  await using service = await startEmulated();
  await expect(service.run(service.client.volumes.create({ ...INPUT, ...wrong }))).rejects.toThrow(
    new RegExp(property),
  );
  expect(service.calls()).toEqual([]);
});
