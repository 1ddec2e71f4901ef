import { ServerlessEndpoint } from "pulumi-serverless-gpu";

const whisper = new ServerlessEndpoint("whisper", {
  templateId: "whisper-template",
  gpuIds: ["AMPERE_16", "AMPERE_24"],
  workersMax: 2,
});

export const queueUrl = whisper.queueUrl;
