import * as pulumi from "@pulumi/pulumi";
import { ServerlessEndpoint } from "pulumi-serverless-gpu";

// `pulumi config set gpuIds …` and similar commands change the chat endpoint. The demo uses them.
const config = new pulumi.Config();

const chat = new ServerlessEndpoint("chat", {
  templateId: "chat-template",
  gpuIds: config.get("gpuIds") ?? "AMPERE_24",
  locations: config.get("locations") ?? "CZ,RO",
  scalerType: "QUEUE_DELAY",
  scalerValue: config.getNumber("scalerValue") ?? 4,
  workersMin: 1,
  workersMax: 3,
  flashBootType: "FLASHBOOT",
});

const embeddings = new ServerlessEndpoint("embeddings", {
  templateId: "embeddings-template",
  gpuIds: ["AMPERE_16", "AMPERE_24", "-NVIDIA L4"],
  workersMax: 2,
});

export const chatQueueUrl = chat.queueUrl;
export const embeddingsName = embeddings.name;
