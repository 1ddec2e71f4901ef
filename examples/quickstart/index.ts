import * as pulumi from "@pulumi/pulumi";
import { ServerlessEndpoint, ServerlessTemplate } from "pulumi-serverless-gpu";

// `pulumi config set gpuIds …` and similar commands change the endpoint. The demo uses them.
const config = new pulumi.Config();

const template = new ServerlessTemplate("chat", {
  imageName: "ghcr.io/me/chat:1.4.0", // the image, with the worker code
  env: { MODEL: "llama-3" },
});

const chat = new ServerlessEndpoint("chat", {
  templateId: template.id,
  templateRevision: template.revision, // a changed template reaches the workers
  gpuIds: config.get("gpuIds") ?? "AMPERE_24",
  locations: config.get("locations") ?? "EU-CZ-1,EU-RO-1",
  scalerType: "QUEUE_DELAY",
  scalerValue: config.getNumber("scalerValue") ?? 4,
  workersMin: 1,
  workersMax: 3,
  flashBootType: "FLASHBOOT",
});

export const queueUrl = chat.queueUrl;
