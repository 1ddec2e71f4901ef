import * as pulumi from "@pulumi/pulumi";
import { ServerlessEndpoint, SmokeTest } from "pulumi-serverless-gpu";

// Two identical endpoints. Callers use one of them, and the other one is free to test a new
// template.
//
//   pulumi config set greenTemplate model-v2 && pulumi config set live green && pulumi up
//
// changes green, runs a job on it, and exports its queue only if the job returns the expected
// output. If not, `pulumi up` fails and the outputs are still those of blue. To switch back:
// `pulumi config set live blue && pulumi up`.
const config = new pulumi.Config();
const live = config.get("live") ?? "blue";
if (live !== "blue" && live !== "green") throw new pulumi.RunError(`live is "${live}": it must be blue or green`);

function deploy(color: "blue" | "green") {
  const endpoint = new ServerlessEndpoint(color, {
    gpuIds: ["AMPERE_24", "ADA_24"],
    templateId: config.get(`${color}Template`) ?? "model-v1",
    // Workers that still run the old template stop soon, and take no jobs meant for the new one.
    idleTimeout: 5,
    workersMax: 3,
  });
  const smokeTest = new SmokeTest(`${color}-responds`, {
    endpointId: endpoint.endpointId,
    input: { prompt: "2 + 2 =" },
    expectedOutput: { text: "4" },
    triggers: [endpoint.templateId],
    timeout: 600,
  });
  return { endpoint, smokeTest };
}

const { endpoint, smokeTest } = { blue: deploy("blue"), green: deploy("green") }[live];

/** The queue that callers use. It depends on the smoke test. */
export const queueUrl = smokeTest.status.apply(() => endpoint.queueUrl);
