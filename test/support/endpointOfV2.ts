/** An endpoint as REST v2 returns it. */
export const ENDPOINT_OF_V2 = {
  id: "ep1",
  name: "llama",
  type: "QUEUE",
  workers: { min: 0, max: 2 },
  dataCenterIds: [],
  networkVolumes: [],
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  gpu: { pools: ["ADA_24"], count: 1 },
  timeout: 0,
  flashboot: "OFF",
  createdAt: "2026-11-21T10:00:00Z",
};
