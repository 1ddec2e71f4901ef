import type { TestedRow } from "../testedService";
import { type FindingOf, observed, outcome, type Scenario, type ScenarioFields, type ScenarioStep } from "./scenario";

/** Returns fields of the saved endpoint, or the outcome of a rejected save. */
export const shownFields =
  (...fields: string[]): FindingOf =>
  (reply) => {
    const saved = reply.body?.data?.saveEndpoint;
    if (!saved) return outcome(reply);
    return Object.fromEntries(fields.map((field) => [field, saved[field]]));
  };

/** A save, followed by fields that each show a row. */
const save = (fields: ScenarioFields, ...findings: readonly (readonly [TestedRow, ...string[]])[]): ScenarioStep => ({
  send: { save: fields },
  findings: findings.map(([row, ...names]) => [row, shownFields(...names)]),
});

export const savedFields: Scenario = {
  name: "fields of saveEndpoint",
  steps: [
    save(
      { idleTimeout: "31", scalerValue: "7", locations: '"US"' },
      ["save.modify", "idleTimeout", "scalerValue"],
      ["save.fields", "gpuIds", "workersMin", "workersMax", "networkVolumeId"],
      ["save.round-trip", "name"],
      ["save.locations", "locations"],
    ),
    save({}, ["save.reset", "idleTimeout", "scalerValue"], ["save.keep", "locations", "scalerType"]),
    save({ locations: "null" }, ["save.clear", "locations"]),
    save({ locations: '"EU-RO-1"' }, ["save.data-center", "locations"]),
    save({ locations: '""' }, ["save.any-region", "locations"]),
    save({ scalerType: '"REQUEST_COUNT"' }, ["save.scaler-type", "scalerType"]),
    save({ gpuIds: '"AMPERE_16,ADA_24"' }, ["save.gpu-list", "gpuIds"]),
    save({ gpuIds: '"HOPPER_141"' }, [observed("save.newer-tiers"), "gpuIds"]),
    save({}),
  ],
};

export const flashBoot: Scenario = {
  name: "FlashBoot",
  steps: [
    save({}, [observed("save.flash-boot-shown"), "flashBootType"]),
    save({ flashBootType: "FLASHBOOT" }, [observed("save.flash-boot-suffix"), "name", "flashBootType"]),
    save({ flashBootType: "OFF" }, [
      { contract: "save.flash-boot-off", observed: "save.flash-boot-off-observed" },
      "name",
      "flashBootType",
    ]),
    save({ flashBootType: "FLASHBOOT" }),
    save({ flashBootType: "null" }, [
      { contract: "save.flash-boot-null", observed: "save.flash-boot-null-observed" },
      "flashBootType",
    ]),
    save({ flashBootType: "OFF" }),
  ],
};

/**
 * An input that the service should reject. Even if the service accepts it, the endpoint has no
 * workers.
 */
export const refusedSave = (row: TestedRow, fields: ScenarioFields): ScenarioStep => ({
  send: { save: fields },
  findings: [[row, outcome]],
});

export const refusedSaves: Scenario = {
  name: "refusals of saveEndpoint",
  steps: [
    refusedSave("save.required", { gpuIds: undefined }),
    refusedSave("save.null-default", { idleTimeout: "null" }),
    refusedSave("save.unknown-tier", { gpuIds: '"NO_SUCH_TIER"' }),
    refusedSave("save.unknown-location", { locations: '"NO_SUCH_PLACE"' }),
    refusedSave("save.unknown-scaler-type", { scalerType: '"NO_SUCH_TYPE"' }),
    refusedSave("save.ranges", { idleTimeout: "-1" }),
    refusedSave(observed("save.whole-scaler-value"), { scalerValue: "4.5" }),
    save({}),
  ],
};
