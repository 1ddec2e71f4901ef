import type { TestedRow } from "../testedService";
import { own } from "./graphql";
import { refusedSave, shownFields } from "./saveEndpoint";
import { observed, type Scenario, type ScenarioFields, type ScenarioStep } from "./scenario";

/**
 * The fields that the client sends back unchanged, in GraphQL syntax. They have no effect, because
 * the endpoint has no worker.
 */
const SET = {
  gpuCount: "2",
  workersPFBTarget: "1",
  minCudaVersion: '"12.4"',
  compliance: "[GDPR]",
  executionTimeoutMs: "60000",
  type: '"QB"',
};
const FIELDS = Object.keys(SET).join(" ");
const SOURCES =
  "workersStandby flashEnvironmentId env { key } repo { __typename } hubRelease { __typename } networkVolumeIds { networkVolumeId }";

const save = (
  fields: ScenarioFields,
  selection: string,
  ...findings: readonly (readonly [TestedRow, ...string[]])[]
): ScenarioStep => ({
  send: { save: fields, selection },
  findings: findings.map(([row, ...names]) => [row, shownFields(...names)]),
});

/** Tests what a save does to fields that it omits. Only the observed service has these fields. */
export const keptFields: Scenario = {
  name: "fields that a save repeats",
  steps: [
    save(SET, FIELDS, [observed("save.observed-fields"), ...Object.keys(SET)]),
    save(
      {},
      FIELDS,
      [observed("save.observed-defaults"), "gpuCount", "workersPFBTarget"],
      [observed("save.observed-kept"), "minCudaVersion", "compliance"],
      [observed("save.observed-reset"), "executionTimeoutMs"],
      [observed("save.type-kept"), "type"],
    ),
    save({ workersStandby: "0" }, "workersStandby", [observed("save.standby"), "workersStandby"]),
    {
      send: { graphql: `{ myself { endpoints { id ${SOURCES} } } }` },
      findings: [
        [
          observed("save.sources"),
          own((endpoint, status) => {
            const { id: _, ...others } = endpoint ?? { id: "" };
            return endpoint ? others : { status };
          }),
        ],
      ],
    },
    save({ minCudaVersion: '""', compliance: "[]" }, FIELDS),
  ],
};

const MODELS = ["main", "other"].map((revision) => `"https://huggingface.co/openai/gpt-oss-20b:${revision}"`);
const LISTS = "modelReferences networkVolumeIds { networkVolumeId }";

/** Tests how the client clears fields, and which values the service rejects. */
export const clearedFields: Scenario = {
  name: "fields that a save clears",
  steps: [
    save({ minCudaVersion: '"12.8"', modelReferences: `[${MODELS[0]}]` }, LISTS),
    save({ minCudaVersion: "null", allowedCudaVersions: '"12.8,12.9"' }, "minCudaVersion allowedCudaVersions"),
    save(
      { minCudaVersion: "null", allowedCudaVersions: "null", modelReferences: "[]", networkVolumeIds: "null" },
      `minCudaVersion allowedCudaVersions ${LISTS}`,
      [observed("save.observed-nulls"), "minCudaVersion", "allowedCudaVersions", "modelReferences", "networkVolumeIds"],
    ),
    refusedSave(observed("save.cuda"), { minCudaVersion: '"newest"' }),
    refusedSave(observed("save.models"), { modelReferences: `[${MODELS}]` }),
    refusedSave(observed("save.type-fixed"), { type: '"LB"' }),
    save({}, "id"),
  ],
};
