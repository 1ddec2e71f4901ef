import * as pulumi from "@pulumi/pulumi";
import {
  ContainerRegistryAuth,
  NetworkVolume,
  ServerlessEndpoint,
  ServerlessTemplate,
  SmokeTest,
} from "pulumi-serverless-gpu";

// pulumi config set --secret ghcr <password>; pulumi config set --secret hf <token>
const config = new pulumi.Config();

const registry = new ContainerRegistryAuth("ghcr", { username: "me", password: config.requireSecret("ghcr") });

const template = new ServerlessTemplate("llama", {
  imageName: config.get("image") ?? "ghcr.io/me/llama:1.4.0",
  env: { HF_TOKEN: config.requireSecret("hf"), MODEL: "llama-3" },
  containerDiskInGb: 20,
  containerRegistryAuthId: registry.id,
});

// protect keeps the volume and its data from being deleted, whatever the program says.
const volume = new NetworkVolume(
  "models",
  { size: 50, dataCenterId: "EU-RO-1" },
  { protect: config.getBoolean("protect") ?? true },
);

const llama = new ServerlessEndpoint("llama", {
  templateId: template.id,
  templateRevision: template.revision,
  networkVolumeId: volume.id,
  gpuIds: ["ADA_24"],
  locations: ["EU-RO-1"],
});

new SmokeTest("llama-answers", {
  endpointId: llama.endpointId,
  input: { prompt: "2 + 2 =" },
  triggers: [template.revision],
});

export const queueUrl = llama.queueUrl;
export const templateRevision = template.revision;
