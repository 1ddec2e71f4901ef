import * as pulumi from "@pulumi/pulumi";
import { requireAddress, requireApiKey } from "../../sdk/config";
import { nearestWord } from "../../sdk/nearestWord";
import { SERVERLESS_ENDPOINT } from "../resourceTypes";
import { apiOf, CONFIG_NAMES, CONFIG_NAMESPACE, providerSettings } from "./config";

/** The stacks that have been warned. A process may run several programs. */
const warnedOfConfig = new WeakSet<pulumi.Resource>();
const warnedOfSettings = new WeakSet<pulumi.Resource>();

/**
 * In a preview, warns once about unknown names in the stack's config, which have no effect, and about a missing key or
 * URL, which would make `up` fail. An explicit provider needs neither.
 */
export function warnOfSettings(resource: pulumi.CustomResource): void {
  // Unit tests with mocks have no stack.
  const program = pulumi.runtime.getStackResource();
  if (!program || !pulumi.runtime.isDryRun()) return;
  if (!warnedOfConfig.has(program)) {
    warnedOfConfig.add(program);
    for (const problem of unknownConfig()) pulumi.log.warn(problem);
  }
  if (warnedOfSettings.has(program) || resource.getProvider(SERVERLESS_ENDPOINT.type)) return;
  warnedOfSettings.add(program);
  const missing = missingSetting();
  if (missing !== undefined)
    pulumi.log.warn(`this preview sends no requests and needs no key, but up will fail: ${missing}`);
}

function unknownConfig(): string[] {
  const prefix = `${CONFIG_NAMESPACE}:`;
  const names = Object.keys(pulumi.runtime.allConfig())
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
  return names
    .filter((name) => !CONFIG_NAMES.includes(name))
    .map((name) => {
      const meant = nearestWord(name, CONFIG_NAMES);
      const hint = meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
      return `${prefix}${name} in the stack's config is not a setting and has no effect.${hint} Settings: ${CONFIG_NAMES.join(", ")}`;
    });
}

function missingSetting(): string | undefined {
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  try {
    const settings = providerSettings((name) => config.get(name));
    apiOf(settings);
    requireApiKey(settings);
    requireAddress(settings, "graphqlUrl");
    requireAddress(settings, "queueUrl");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
