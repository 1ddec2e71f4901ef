// Adopts 2 endpoints, as they were when "serverless-gpu adopt" wrote this. What to do next:
// 1. Make it the index.ts of a Pulumi program that depends on pulumi-serverless-gpu.
//    Change logical names (the first arguments) now if you want others; later it takes aliases.
// 2. Set the key and the addresses as they were set for "adopt".
// 3. Run "pulumi up". For each endpoint, its output must say "adopted" and "no changes were needed".
// 4. Take the adoptId lines out if you like. "pulumi destroy" will delete the endpoints from now on.
import { ServerlessEndpoint } from "pulumi-serverless-gpu";

new ServerlessEndpoint("Chat-production", {
  adoptId: "chat1endpoint",
  name: "Chat (production)",
  gpuIds: ["ADA_48_PRO", "AMPERE_48"],
  templateId: "chat-template",
  workersMax: 5,
  locations: ["CZ", "RO"],
  flashBootType: "FLASHBOOT",
});

new ServerlessEndpoint("whisper", {
  adoptId: "whisper1endpoint",
  name: "whisper",
  gpuIds: "AMPERE_16",
  templateId: "whisper-template",
});
