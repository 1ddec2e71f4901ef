import { configure } from "../../../provider/connection/connection";
import { decideApi } from "../../../provider/connection/decidedApi";
import { VOLUME_KIND } from "../../../provider/kinds/volumeKind";
import { recordHandlers } from "../../../provider/records/recordHandlers";
import type { RecordKind } from "../../../provider/records/recordKind";
import { CAPABILITIES } from "../../../sdk/contract/capabilities";
import { MANAGEMENT_APIS } from "../../../sdk/contract/limits";
import type { NamedRecord } from "../../../sdk/records/listed";
import { startEmulated } from "../../support/emulated";
import { KINDS } from "../../support/recordTables";

const INPUTS = { name: "models", size: 10, dataCenterId: "EU-RO-1" };

/** Returns the problems with a volume, if volumes existed only over the API with a capability. */
async function failures(needs: "deletesWorkers" | "changesLogins", config: Record<string, string>) {
  const settings = { apiKey: "key-of-a-kind-of-one-api", service: "runpod", ...config };
  const handlers = recordHandlers({ ...VOLUME_KIND, needs });
  const entries = new Map(Object.entries(settings).map(([name, value]) => [`serverless-gpu:${name}`, value]));
  const get = (key: string) => entries.get(key);
  await configure({ config: { get, require: (key) => String(get(key)) } });
  const { failures: found = [] } = await handlers.check({}, INPUTS);
  return found.map(({ reason }) => reason);
}

const ONLY_V2 = "a network volume exists only over REST v2, and this run uses GraphQL. Set serverless-gpu:api to v2";

test("a kind that only one API has is refused by the preview of a run over another API, and by name of the setting", async () => {
  expect(await failures("deletesWorkers", { api: "v2" })).toEqual([]);
  expect(await failures("deletesWorkers", { api: "graphql" })).toEqual([ONLY_V2]);
  expect(await failures("changesLogins", { api: "graphql" })).toEqual([]);
  expect(await failures("changesLogins", { api: "v2" })).toEqual([
    "a network volume exists only over GraphQL, and this run uses REST v2. Set serverless-gpu:api to graphql",
  ]);
});

test("without a setting, a kind of REST v2 is refused until the run has switched to REST v2", async () => {
  expect(await failures("deletesWorkers", {})).toEqual([ONLY_V2]);
  decideApi("v2");
  expect(await failures("deletesWorkers", {})).toEqual([]);
});

/** Returns whether a client over an API has the requests of a kind. */
async function hasRequests({ records }: RecordKind<NamedRecord, object>, api: (typeof MANAGEMENT_APIS)[number]) {
  await using emulated = await startEmulated({ emulator: { profile: "observed" }, client: { api } });
  const listing = records(emulated.client).find("no-such-id");
  return emulated.run(listing).then(
    () => true,
    (error: Error) => !error.message.includes("which does not have this kind of record"),
  );
}

test.each(
  Object.entries(KINDS).flatMap(([name, kind]) => MANAGEMENT_APIS.map((api) => [name, api, kind] as const)),
)("%s has requests over %s, unless it needs a capability that the API lacks", async (_name, api, kind) => {
  const { needs } = kind;
  expect(await hasRequests(kind, api)).toBe(needs === undefined || CAPABILITIES[api][needs]);
});
