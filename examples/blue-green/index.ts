import * as pulumi from "@pulumi/pulumi";
import { ServerlessEndpoint, SmokeTest } from "pulumi-serverless-gpu";

// Two endpoints of one kind: callers use one of them, the other one is free to try a new template.
//
//   pulumi config set greenTemplate model-v2 && pulumi config set live green && pulumi up
//
// changes green, runs a job on it, and hands its queue out only if the job gives the right answer. If not, `pulumi up`
// fails and the outputs stay as they were: blue's. The way back is `pulumi config set live blue && pulumi up`.
const config = new pulumi.Config();
const live = config.get("live") ?? "blue";
if (live !== "blue" && live !== "green") throw new pulumi.RunError(`live is "${live}": it must be blue or green`);

function deploy(color: "blue" | "green") {
  const endpoint = new ServerlessEndpoint(color, {
    gpuIds: ["AMPERE_24", "ADA_24"],
    templateId: config.get(`${color}Template`) ?? "model-v1",
    // Workers that still run the old template leave soon, and do not answer for the new one.
    idleTimeout: 5,
    workersMax: 3,
  });
  const smokeTest = new SmokeTest(`${color}-answers`, {
    endpointId: endpoint.endpointId,
    input: { prompt: "2 + 2 =" },
    expectedOutput: { text: "4" },
    triggers: [endpoint.templateId],
    timeout: 600,
  });
  return { endpoint, smokeTest };
}

const { endpoint, smokeTest } = { blue: deploy("blue"), green: deploy("green") }[live];

/** The queue that callers use. It waits for the smoke test. */
export const queueUrl = smokeTest.status.apply(() => endpoint.queueUrl);
