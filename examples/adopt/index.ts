// Adopts 2 endpoints as they were when "npx pulumi-serverless-gpu adopt" wrote this file. Next:
// 1. Make it the index.ts of a Pulumi program that depends on pulumi-serverless-gpu. If you want
//    other logical names (the first arguments), change them now. A later change needs aliases.
// 2. Keep the key and the URLs in the environment, as for "adopt", or in the stack's config. Apply
//    the program over GraphQL, as it was written: serverless-gpu:api: graphql in Pulumi.yaml.
// 3. Run "pulumi up". It must say "adopted" and "nothing changed" for each endpoint.
// 4. Remove the adoptId lines and run "pulumi up" again: only then are they the stack's own, and
//    "pulumi destroy" deletes them. While adoptId is set, it only releases them, and you still pay.
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
