import * as pulumi from "@pulumi/pulumi";
import { CONFIG_NAMESPACE, type ReadConfig } from "../../connection/config";
import { missingSetting, noteOnUrls, unknownSettings, usedConnection } from "../../connection/settingsProblems";
import { SERVERLESS_ENDPOINT } from "../../engine/resourceTypes";
import { explicitSettings, ServerlessGpuProvider } from "../resources/provider";

/** The stacks that have been warned. A process may run several programs. */
const warnedOfConfig = new WeakSet<pulumi.Resource>();
const warnedOfSettings = new WeakSet<pulumi.Resource>();

/** The programs and explicit providers whose connection has been reported. */
const named = new WeakSet<pulumi.Resource>();

/**
 * In an `up`, reports once per account which API and account it uses. In a preview, warns once
 * about unknown names in the stack's config, about a missing key or URL, and about URLs that
 * override those of a named service. Explicit providers need none of these warnings.
 */
export function warnOfSettings(resource: pulumi.CustomResource): void {
  // Unit tests with mocks have no stack.
  const program = pulumi.runtime.getStackResource();
  if (!program) return;
  if (!pulumi.runtime.isDryRun()) {
    sayConnection(program, resource.getProvider(SERVERLESS_ENDPOINT.type));
    return;
  }
  if (!warnedOfConfig.has(program)) {
    warnedOfConfig.add(program);
    for (const problem of unknownSettings(configuredNames())) pulumi.log.warn(problem);
  }
  if (warnedOfSettings.has(program) || resource.getProvider(SERVERLESS_ENDPOINT.type)) return;
  warnedOfSettings.add(program);
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  const readConfig = (name: string) => config.get(name);
  const missing = missingSetting(readConfig);
  if (missing !== undefined) pulumi.log.warn(missing);
  const note = noteOnUrls(readConfig);
  if (note !== undefined) pulumi.log.info(note);
}

/** Reports once which connection the default provider or an explicit provider uses. */
function sayConnection(program: pulumi.Resource, provider: pulumi.ProviderResource | undefined): void {
  const user = provider ?? program;
  if (named.has(user)) return;
  named.add(user);
  const say = (readConfig: ReadConfig) => {
    const line = usedConnection(readConfig);
    if (line !== undefined) pulumi.log.info(line);
  };
  const config = new pulumi.Config(CONFIG_NAMESPACE);
  if (!provider) say((name) => config.get(name));
  else if (provider instanceof ServerlessGpuProvider)
    explicitSettings(provider).apply((settings) => say((name) => settings[name]));
}

/** Returns the names of the settings in the stack's config, without the namespace. */
function configuredNames(): string[] {
  const prefix = `${CONFIG_NAMESPACE}:`;
  const keys = Object.keys(pulumi.runtime.allConfig()).filter((key) => key.startsWith(prefix));
  return keys.map((key) => key.slice(prefix.length));
}
