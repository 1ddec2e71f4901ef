import {
  CONFIG_NAMES,
  CONFIG_NAMESPACE,
  type ProviderSettings,
  providerSettings,
  VARIABLE_NAMES,
} from "../../provider/connection/config";
import { urlsBeforeService } from "../../provider/connection/settingsProblems";
import { type ConnectionSettings, ENVIRONMENT_VARIABLES, serviceName } from "../../sdk/config";
import { didYouMean } from "../didYouMean";
import { type Learned, pulumi, pulumiJson } from "../pulumiCommand";
import { type Finding, failed, ok, together, warning } from "./check";
import type { Program } from "./program";

/** A value of the stack's config. Secrets are decrypted only when needed. */
interface ConfigValue {
  readonly value?: string;
  readonly secret: boolean;
}

/** The part of a stack's config for this package, by names without the namespace. */
type StackConfig = ReadonlyMap<string, ConfigValue>;

/** The settings, as the provider reads them. */
export interface Configuration {
  readonly settings: ProviderSettings;
  readonly finding: Finding;
  /** `true` if no resource in state uses the settings, because each has a provider with its own. */
  readonly isUnused: boolean;
  /** Describes the source of a setting, without its value. */
  readonly sourceOf: (name: keyof ConnectionSettings) => string;
}

/** Reads the environment and, in a Pulumi project, the selected stack's config. */
export async function readConfiguration(
  program: Program | undefined,
  areProvidersExplicit: Promise<boolean>,
): Promise<Configuration> {
  const learned = program && (await readStackConfig(program.project));
  const config: StackConfig = learned && "value" in learned ? learned.value : new Map();
  const ofEnvironment = providerSettings(() => undefined);
  const isNeeded = (name: string) => ofEnvironment[name as keyof ConnectionSettings] === undefined;
  const decrypted = program ? await decrypt(config, isNeeded, program.project) : new Map<string, Learned<string>>();
  const settings = providerSettings((name) => {
    const secret = decrypted.get(name);
    return secret && "value" in secret ? secret.value : config.get(name)?.value;
  });
  const sourceOf = (name: keyof ConnectionSettings) => {
    if (ofEnvironment[name] !== undefined) return `set in the environment (${ENVIRONMENT_VARIABLES[name]})`;
    if (settings[name] === undefined) return `from the service ${settings.service}`;
    return `set in the stack's config${config.get(name)?.secret ? " (secret)" : ""}`;
  };
  const isUnused = await areProvidersExplicit;
  const findings = [
    ...(learned && "problem" in learned ? [configNotRead(learned.problem)] : []),
    ...checkSecrets(decrypted),
    ...(isUnreadable(decrypted.get("apiKey")) ? [] : [checkKeyIsSet(settings, sourceOf, isUnused)]),
    checkService(settings, sourceOf),
    ...checkPlainKey(config),
    ...checkNames(config),
  ];
  return { settings, finding: together(findings), isUnused, sourceOf };
}

async function readStackConfig(folder: string): Promise<Learned<StackConfig>> {
  const all = await pulumiJson<Record<string, ConfigValue>>(["config", "--json"], folder);
  if ("problem" in all) return all;
  const prefix = `${CONFIG_NAMESPACE}:`;
  const entries = Object.entries(all.value);
  return {
    value: new Map(
      entries.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => [name.slice(prefix.length), value]),
    ),
  };
}

/** Decrypts the secret settings that are needed. */
async function decrypt(
  config: StackConfig,
  isNeeded: (name: string) => boolean,
  folder: string,
): Promise<ReadonlyMap<string, Learned<string>>> {
  const names = Object.keys(ENVIRONMENT_VARIABLES).filter((name) => config.get(name)?.secret && isNeeded(name));
  const read = (name: string) => pulumi(["config", "get", `${CONFIG_NAMESPACE}:${name}`], folder);
  return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
}

function isUnreadable(learned: Learned<string> | undefined): boolean {
  return learned !== undefined && "problem" in learned;
}

function configNotRead(problem: string): Finding {
  return warning(
    `the stack's config cannot be read (${problem}), so only the environment is used`,
    'If the settings are in a stack, run "pulumi stack select". In a pipeline, log in and select the stack.',
  );
}

function checkSecrets(decrypted: ReadonlyMap<string, Learned<string>>): Finding[] {
  return [...decrypted].flatMap(([name, learned]) =>
    "problem" in learned
      ? failed(
          `${CONFIG_NAMESPACE}:${name} is a secret of the stack's config that cannot be decrypted (${learned.problem})`,
          `Set the passphrase (PULUMI_CONFIG_PASSPHRASE), or give pulumi access to the secrets provider, or set ${
            ENVIRONMENT_VARIABLES[name as keyof ConnectionSettings]
          }.`,
        )
      : [],
  );
}

function checkKeyIsSet({ apiKey }: ProviderSettings, sourceOf: Configuration["sourceOf"], isUnused: boolean): Finding {
  if (apiKey !== undefined) return ok(`API key ${sourceOf("apiKey")}`);
  if (isUnused) return ok("no API key, which is not needed: each resource in state has a ServerlessGpuProvider");
  if (process.env.RUNPOD_API_KEY !== undefined)
    return failed(
      "there is no API key: RUNPOD_API_KEY is set, but only RunPod's own tools read it",
      `Run: export ${ENVIRONMENT_VARIABLES.apiKey}="$RUNPOD_API_KEY" ${ENVIRONMENT_VARIABLES.service}=runpod`,
    );
  return failed(
    "there is no API key",
    `Set ${ENVIRONMENT_VARIABLES.apiKey}, or run: pulumi config set --secret ${CONFIG_NAMESPACE}:apiKey ` +
      "(not needed if all resources of the program have a ServerlessGpuProvider).",
  );
}

function checkService(settings: ProviderSettings, sourceOf: Configuration["sourceOf"]): Finding {
  try {
    const service = serviceName(settings);
    const urls = urlsBeforeService(settings);
    if (urls.length > 0)
      return warning(
        `service ${service} is ${sourceOf("service")}, but the URLs that are set take precedence: ${urls.join(", ")}`,
        `Remove ${ENVIRONMENT_VARIABLES.service}, or the URLs. In an emulator's shell, the URLs are the emulator's.`,
      );
    return ok(service === undefined ? "no service named" : `service ${service} ${sourceOf("service")}`);
  } catch (error) {
    return failed((error as Error).message, `It is ${sourceOf("service")}: change it to runpod, or remove it.`);
  }
}

function checkPlainKey(config: StackConfig): Finding[] {
  const key = config.get("apiKey");
  if (!key || key.secret) return [];
  const command = `pulumi config set --secret ${CONFIG_NAMESPACE}:apiKey`;
  return [warning("the API key is in the stack's config as plain text", `Set it again, as a secret: ${command}`)];
}

/** Warns about unknown names, which are misspelled or from another version. */
function checkNames(config: StackConfig): Finding[] {
  const variables = Object.keys(process.env).filter((name) => name.startsWith("SERVERLESS_GPU_"));
  const unknown = [
    ...variables.filter((name) => !VARIABLE_NAMES.includes(name)).map((name) => [name, VARIABLE_NAMES] as const),
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
