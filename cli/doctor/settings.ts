import {
  CONFIG_NAMES,
  CONFIG_NAMESPACE,
  otherSettings,
  type ProviderSettings,
  VARIABLE_NAMES,
} from "../../provider/connection/config";
import { INSTANT_VARIABLE } from "../../provider/connection/runInstant";
import { urlsBeforeService } from "../../provider/connection/settingsProblems";
import type { Resolved } from "../../sdk/connection/resolver";
import {
  type ConnectionSettings,
  ENVIRONMENT_VARIABLES,
  requireApiKey,
  serviceName,
} from "../../sdk/connection/settings";
import { ConfigurationError } from "../../sdk/errors/errors";
import { SecretText } from "../../sdk/errors/secretText";
import { type ConnectionFlags, findConnection, howToDecrypt, unreadConfig } from "../connection/connection";
import type { StackConfig } from "../connection/stackConfig";
import { didYouMean } from "../didYouMean";
import type { Learned } from "../pulumiCommand";
import { type CheckResult, failed, ok, together, warning } from "./check";

/** The settings as the provider would read them. */
export interface Configuration {
  readonly settings: ProviderSettings;
  /** Where each setting comes from, as shown in messages. */
  readonly from: Resolved["from"];
  readonly finding: CheckResult;
  /**
   * `true` if no resource in state uses these settings, because each one has an explicit provider.
   */
  readonly isUnused: boolean;
  /** Describes where a setting comes from, without its value. */
  readonly sourceOf: (name: keyof ConnectionSettings) => string;
}

/** Finds the connection in the same way as every command, but always reads the config. */
export async function readConfiguration(
  folder: string,
  flags: ConnectionFlags,
  areProvidersExplicit: Promise<boolean>,
): Promise<Configuration> {
  const found = await findConnection(folder, flags, true);
  const { from, config, secrets, readConfig } = found;
  if (found.settings.apiKey !== undefined) new SecretText(found.settings.apiKey);
  const settings: ProviderSettings = { ...found.settings, ...otherSettings(readConfig), provider: "" };
  const values: StackConfig = config && "value" in config ? config.value : new Map();
  const sourceOf = (name: keyof ConnectionSettings) => {
    const place = from[name];
    if (place === undefined) return `from the service ${settings.service}`;
    if (place === ENVIRONMENT_VARIABLES[name]) return `set in the environment (${place})`;
    return `set in ${place}${values.get(name)?.secret ? " (secret)" : ""}`;
  };
  const isUnused = await areProvidersExplicit;
  const key = secrets.get("apiKey");
  const findings = [
    ...(config && "problem" in config ? [configNotRead(config.problem)] : []),
    ...checkSecrets(secrets),
    ...(key && "problem" in key ? [] : [checkKeyIsSet(settings, sourceOf, isUnused)]),
    checkService(settings, sourceOf),
    ...checkPlainKey(values),
    ...checkNames(values),
  ];
  return { settings, from, finding: together(findings), isUnused, sourceOf };
}

function configNotRead(problem: string): CheckResult {
  return warning(
    `${unreadConfig(problem)}, so only the environment and the project file are used`,
    /log ?in|logged|access token|credentials/i.test(problem)
      ? "If the settings are in a stack, set PULUMI_ACCESS_TOKEN, or log in: pulumi login"
      : "If the settings are in a stack, select it: pulumi stack select",
  );
}

function checkSecrets(secrets: ReadonlyMap<string, Learned<string>>): CheckResult[] {
  return [...secrets].flatMap(([name, learned]) => {
    if ("value" in learned) return [];
    const how = howToDecrypt(name);
    return failed(
      `${CONFIG_NAMESPACE}:${name} is a secret of the stack's config that cannot be decrypted (${learned.problem})`,
      `${how.charAt(0).toUpperCase()}${how.slice(1)}.`,
    );
  });
}

function checkKeyIsSet(
  { apiKey }: ProviderSettings,
  sourceOf: Configuration["sourceOf"],
  isUnused: boolean,
): CheckResult {
  const problem = problemOf(() => apiKey !== undefined && requireApiKey({ apiKey }));
  if (problem !== undefined) return failed(problem, `The key is ${sourceOf("apiKey")}: correct it there.`);
  if (apiKey !== undefined) return ok(`API key ${sourceOf("apiKey")}`);
  if (isUnused) return ok("no API key. None is needed, because each resource in state has a ServerlessGpuProvider");
  if (process.env.RUNPOD_API_KEY !== undefined)
    return failed(
      "there is no API key: RUNPOD_API_KEY is set, but only RunPod's own tools read it",
      `Run: export ${ENVIRONMENT_VARIABLES.apiKey}="$RUNPOD_API_KEY" ${ENVIRONMENT_VARIABLES.service}=runpod`,
    );
  return failed(
    "there is no API key",
    "If all resources of the program have a ServerlessGpuProvider, none is needed. Otherwise, set " +
      `${ENVIRONMENT_VARIABLES.apiKey}, or run: pulumi config set --secret ${CONFIG_NAMESPACE}:apiKey`,
  );
}

function checkService(settings: ProviderSettings, sourceOf: Configuration["sourceOf"]): CheckResult {
  try {
    const service = serviceName(settings);
    const urls = urlsBeforeService(settings);
    if (urls.length > 0)
      return warning(
        `service ${service} is ${sourceOf("service")}, but the URLs that are set take precedence: ${urls.join(", ")}`,
        `To use the URLs, remove ${ENVIRONMENT_VARIABLES.service}, and set the others as well. To use ${service}, remove the URLs.`,
      );
    return ok(service === undefined ? "no service named" : `service ${service} ${sourceOf("service")}`);
  } catch (error) {
    return failed((error as Error).message, `It is ${sourceOf("service")}: change it to runpod, or remove it.`);
  }
}

/** Returns the error message of an invalid setting; `undefined` if it is valid. */
export function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
}

function checkPlainKey(config: StackConfig): CheckResult[] {
  const key = config.get("apiKey");
  if (!key || key.secret) return [];
  const command = `pulumi config set --secret ${CONFIG_NAMESPACE}:apiKey`;
  return [warning("the API key is in the stack's config as plain text", `Set it again, as a secret: ${command}`)];
}

/** Warns about unknown names, which are probably misspelled or belong to another version. */
function checkNames(config: StackConfig): CheckResult[] {
  const variables = Object.keys(process.env).filter((name) => name.startsWith("SERVERLESS_GPU_"));
  const allowed = [...VARIABLE_NAMES, INSTANT_VARIABLE];
  const unknown = [
    ...variables.filter((name) => !allowed.includes(name)).map((name) => [name, allowed] as const),
    ...[...config.keys()]
      .filter((name) => !CONFIG_NAMES.includes(name))
      .map(
        (name) => [`${CONFIG_NAMESPACE}:${name}`, CONFIG_NAMES.map((each) => `${CONFIG_NAMESPACE}:${each}`)] as const,
      ),
  ];
  return unknown.map(([name, known]) =>
    warning(`${name} is set, but nothing reads it`, `Correct or remove ${name}.${didYouMean(name, known)}`),
  );
}
