import { checkLackedFields } from "../../cli/doctor/fields";
import { providerSettings } from "../../provider/connection/config";
import { SERVERLESS_ENDPOINT } from "../../provider/engine/resourceTypes";

const MODEL = "https://huggingface.co/a/b:main";
const endpoint = (name: string, inputs: Readonly<Record<string, unknown>>) => ({
  urn: `urn:pulumi:dev::test::${SERVERLESS_ENDPOINT.type}::${name}`,
  type: SERVERLESS_ENDPOINT.type,
  inputs,
});
const STATE = {
  value: [
    endpoint("cached", { modelReferences: MODEL, gpuCount: 2 }),
    endpoint("other", { modelReferences: MODEL }),
    endpoint("plain", { gpuIds: "ADA_24", gpuCount: 1 }),
  ],
};

/** Returns a stack's settings, without the environment. */
const settings = (config: Readonly<Record<string, string>>) => providerSettings((name) => config[name], {});

test("doctor names each field in state that the API lacks, with its endpoints", () => {
  expect(checkLackedFields(STATE, settings({ api: "v2" }))).toEqual([
    {
      status: "warning",
      found: expect.stringMatching(/^modelReferences of cached, other cannot be set over REST v2: /),
      fix: expect.stringContaining("neither read nor restored"),
    },
  ]);
  expect(checkLackedFields(STATE, settings({})).map(({ found }) => found)).toEqual([
    expect.stringMatching(/^gpuCount of cached is supported only by the service runpod, and over REST v2/),
    expect.stringMatching(/^modelReferences of cached, other is supported only by the service runpod$/),
  ]);
});

test("doctor reports no missing field if the API supports every field or if nothing can be read", () => {
  expect(checkLackedFields(STATE, settings({ service: "runpod" }))).toEqual([]);
  expect(checkLackedFields({ problem: "there is no stack" }, settings({ api: "v2" }))).toEqual([]);
  expect(checkLackedFields(STATE, settings({ service: "unknown" }))).toEqual([]);
});
