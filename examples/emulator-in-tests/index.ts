import { ServerlessEndpoint } from "pulumi-serverless-gpu";

const chat = new ServerlessEndpoint("chat", {
  name: "chat",
  gpuIds: ["AMPERE_24", "AMPERE_48"],
  templateId: "chat-template",
  workersMax: 2,
});

export const queueUrl = chat.queueUrl;
