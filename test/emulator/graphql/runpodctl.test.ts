import { type Emulator, startEmulator } from "../../../emulator";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed" });
  emulator.templates.create({ id: "t1", name: "template", imageName: "me/llama:1", isServerless: true });
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: "t1" });
});
afterAll(() => emulator.stop());

const CONTAINER = "containerDiskInGb volumeInGb volumeMountPath";

/** The fields that runpodctl's commands select (its public sources), by command. */
const REQUESTS: readonly [string, string][] = [
  [
    "user",
    "{ myself { id email clientBalance currentSpendPerHr spendLimit notifyPodsStale notifyPodsGeneral notifyLowBalance } }",
  ],
  [
    "template get",
    `{ podTemplate(id: "t1") { id name imageName isServerless isPublic isRunpod category ports env { key value } ${CONTAINER} readme } }`,
  ],
  [
    "ssh info",
    `{ myself { pods { id name desiredStatus costPerHr uptimeSeconds ${CONTAINER} machine { gpuDisplayName location }
      runtime { ports { ip isIpPublic privatePort publicPort type } } } } }`,
  ],
  ["ssh list-keys", "{ myself { id pubKey } }"],
  ["gpu list", "{ gpuTypes { id displayName memoryInGb secureCloud communityCloud securePrice communityPrice } }"],
  ["datacenter list", "{ dataCenters { id name location gpuAvailability { gpuTypeId displayName stockStatus } } }"],
  ["network-volume list", "{ myself { networkVolumes { id name size dataCenterId } } }"],
  [
    "serverless create",
    `mutation { saveEndpoint(input: { name: "inline", gpuIds: "ADA_24", gpuCount: 1, workersMax: 1,
      template: { name: "inline__template__1", imageName: "me/llama:1", containerDiskInGb: 10, dockerArgs: "", env: [] } })
      { id templateId computeType networkVolumeIds { networkVolumeId dataCenterId } flashBootType modelReferences } }`,
  ],
  [
    "serverless update",
    'mutation { updateEndpointTemplate(input: { endpointId: "e1", templateId: "t1" }) { id templateId } }',
  ],
];

test.each(REQUESTS)("[myself.user] the request of runpodctl %s is answered", async (_, query) => {
  const response = await fetch(`${emulator.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${emulator.apiKey}` },
    body: JSON.stringify({ query, variables: {} }),
  });
  expect([response.status, await response.json()]).toEqual([200, { data: expect.anything() }]);
});
