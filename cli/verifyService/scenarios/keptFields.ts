import { saveOwn, shown } from "./saveEndpoint";
import { outcomeOf, type Scenario } from "./scenario";

/** The fields that the client sends as it read them, written as GraphQL. The endpoint has no worker, so none has an effect. */
const SET = {
  gpuCount: "2",
  workersPFBTarget: "1",
  minCudaVersion: '"12.4"',
  compliance: "[GDPR]",
  executionTimeoutMs: "60000",
  type: '"QB"',
};
const FIELDS = Object.keys(SET).join(" ");

/** Plays what a save does to the fields that it leaves out. Only the observed service has these fields. */
export const keptFields: Scenario = {
  name: "fields that a save repeats",
  async play(site) {
    const set = await saveOwn(site, SET, FIELDS);
    site.note({ observed: "save.observed-fields" }, shown(set, ...Object.keys(SET)));
    const omitted = await saveOwn(site, {}, FIELDS);
    site.note({ observed: "save.observed-defaults" }, shown(omitted, "gpuCount", "workersPFBTarget"));
    site.note({ observed: "save.observed-kept" }, shown(omitted, "minCudaVersion", "compliance"));
    site.note({ observed: "save.observed-reset" }, shown(omitted, "type", "executionTimeoutMs"));
    const standby = await saveOwn(site, { workersStandby: "0" }, "workersStandby");
    site.note({ observed: "save.standby" }, shown(standby, "workersStandby"));
    const { endpoint, graphql, note } = site;
    const sources = "workersStandby flashEnvironmentId env { key } repo { __typename } hubRelease { __typename }";
    const listed = await graphql(`{ myself { endpoints { id ${sources} networkVolumeIds { networkVolumeId } } } }`);
    const own = listed.body?.data?.myself?.endpoints?.find(({ id }: { readonly id: string }) => id === endpoint.id);
    const { id: _, ...others } = own ?? {};
    note({ observed: "save.sources" }, own ? others : outcomeOf(listed));
    await saveOwn(site, { minCudaVersion: '""', compliance: "[]" }, FIELDS);
  },
};
