import { checkCatalog } from "../../cli/doctor/catalog";
import { startEmulator } from "../../emulator";
import { providerSettings } from "../../provider/connection/config";
import { SERVERLESS_ENDPOINT } from "../../provider/engine/resourceTypes";

test("doctor warns about endpoints in state that cannot run according to the catalog, as check does", async () => {
  await using emulator = await startEmulator({ profile: "observed", spendLimit: 2 });
  const outputs = { gpuIds: "FUTURE_300", templateId: "t", workersMin: 0, workersMax: 2 };
  const type = SERVERLESS_ENDPOINT.type;
  const state = { value: [{ urn: `urn:pulumi:dev::test::${type}::one`, type, outputs }] };
  const settings = providerSettings(() => undefined, emulator.env);
  expect(await checkCatalog(state, settings)).toEqual([
    expect.objectContaining({
      status: "warning",
      found: expect.stringContaining("one: the catalog has no GPU pool FUTURE_300"),
    }),
  ]);
  const ada = { value: [{ ...state.value[0], outputs: { ...outputs, gpuIds: "ADA_24" } }] } as typeof state;
  expect(await checkCatalog(ada, settings)).toMatchObject([{ found: expect.stringContaining("spend limit of $2.00") }]);
  // Other checks report such a key. A report must still appear.
  expect(await checkCatalog(state, { ...settings, apiKey: "a key" })).toEqual([]);
  emulator.faults.add({ effect: { status: 500 } });
  expect(await checkCatalog(state, settings)).toEqual([]);
  expect(
    await checkCatalog(
      state,
      providerSettings(() => undefined, {}),
    ),
  ).toEqual([]);
});
