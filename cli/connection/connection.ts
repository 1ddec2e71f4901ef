import path from "node:path";
import { CONFIG_NAMESPACE, type ReadConfig } from "../../provider/connection/config";
import {
  connectionLine,
  environmentSource,
  type Resolved,
  resolveConnection,
  type SettingName,
  type SettingsSource,
} from "../../sdk/connection/resolver";
import {
  ENVIRONMENT_VARIABLES,
  type EnvironmentSettings,
  managementApi,
  requireAddress,
  requireApiKey,
  serviceName,
} from "../../sdk/connection/settings";
import { ConfigurationError } from "../../sdk/errors/errors";
import { redact, SecretText } from "../../sdk/errors/secretText";
import type { Learned } from "../pulumiCommand";
import { shellWord } from "../shownValues";
import { say } from "../terminal";
import { withLiveApi } from "./liveApi";
import { findProjectFile, projectConfig } from "./projectFile";
import { decrypt, readStackConfig, type StackConfig } from "./stackConfig";

/** The options that determine a command's connection. */
export interface ConnectionFlags {
  /** The API. */
  readonly api?: string | undefined;
  /** Where `api` comes from, as shown in messages. @default "--api" */
  readonly apiFrom?: string;
  /** The stack whose config is used; `true` or `undefined` for the selected stack. */
  readonly stack?: string | true | undefined;
}

/** A connection, and the settings that determined it. */
interface Found extends Resolved {
  /** Reads a setting from the stack's config or, if there is none, from the project file. */
  readonly readConfig: ReadConfig;
  /** The stack's config; `undefined` if it is not needed or there is no project. */
  readonly config?: Learned<StackConfig> | undefined;
  /** The secrets from the stack's config that the connection needs. */
  readonly secrets: ReadonlyMap<string, Learned<string>>;
}

/** If all of these are set, the stack's config does not need to be read. */
const WHOLE: readonly SettingName[] = ["apiKey", "api", "graphqlUrl", "queueUrl"];

/**
 * Finds a command's connection. Looks at the option `--api`, the environment, the stack's config
 * and the project file, in this order.
 * @param isThorough `true` to read the config even if it cannot add anything
 */
export async function findConnection(folder: string, flags: ConnectionFlags, isThorough = false): Promise<Found> {
  const flag: SettingsSource = {
    read: (name) => (name === "api" ? flags.api : undefined),
    label: () => flags.apiFrom ?? "--api",
  };
  const first = [flag, environmentSource()];
  const { settings, from } = resolveConnection(first);
  const projectFile = findProjectFile(folder);
  if (projectFile === undefined || (!isThorough && WHOLE.every((name) => settings[name] !== undefined))) {
    return { settings, from, readConfig: () => undefined, secrets: new Map() };
  }
  const stack = typeof flags.stack === "string" ? flags.stack : undefined;
  const project = path.dirname(projectFile);
  const config = await readStackConfig(project, stack);
  const values: StackConfig = "value" in config ? config.value : new Map();
  const isNeeded = (name: string) => settings[name as SettingName] === undefined;
  const secrets = await decrypt(values, isNeeded, project, stack);
  const ofProject = projectConfig(projectFile);
  const ofStack: ReadConfig = (name) => {
    const secret = secrets.get(name);
    return secret && "value" in secret ? secret.value : values.get(name)?.value;
  };
  const stackLabel = stack === undefined ? "the stack's config" : `the config of stack ${stack}`;
  const projectLabel = path.basename(projectFile);
  const sources: SettingsSource[] = [
    ...first,
    // The engine merges the project file into the stack's config.
    { read: ofStack, label: (name) => (ofStack(name) === ofProject.get(name) ? projectLabel : stackLabel) },
    { read: (name) => ofProject.get(name), label: () => projectLabel },
  ];
  const readConfig: ReadConfig = (name) => ofStack(name) ?? ofProject.get(name);
  return { ...resolveConnection(sources), readConfig, config, secrets };
}

/**
 * Returns a command's connection for `createClient`, and prints to stderr which API and account the
 * command uses and why.
 * @throws ConfigurationError if the key or the service is missing
 */
export async function commandConnection(flags: ConnectionFlags): Promise<EnvironmentSettings> {
  return announced(await withLiveApi(await findConnection(process.cwd(), flags)));
}

/** Announces a connection as `commandConnection` does, for commands that also need the config. */
export function announced(found: Found): EnvironmentSettings {
  requireSecrets(found);
  const { settings } = found;
  const apiKey = requireApiKey(settings);
  new SecretText(apiKey);
  requireAddress(settings, "graphqlUrl");
  say(lineOf(found));
  return { ...settings, apiKey, service: serviceName(settings), api: managementApi(settings) };
}

/** Returns the line that says which API and account the command uses. */
export function lineOf(found: Found): string {
  const { config } = found;
  const unread = config && "problem" in config ? `; ${unreadConfig(config.problem)}` : "";
  return redact(connectionLine(found) + unread);
}

/** Describes why the stack's config was not read. */
export function unreadConfig(problem: string): string {
  return /^no stack selected/.test(problem) ? "no stack is selected" : `the stack's config cannot be read (${problem})`;
}

/**
 * Fails if the config contains a needed setting as a secret that cannot be decrypted. Continuing
 * could use another account.
 * @throws ConfigurationError if a secret cannot be decrypted
 */
export function requireSecrets({ secrets }: Found): void {
  for (const [name, learned] of secrets) {
    if ("value" in learned) continue;
    throw new ConfigurationError(
      `${CONFIG_NAMESPACE}:${name} is a secret of the stack's config that cannot be decrypted (${learned.problem}): ` +
        `${howToDecrypt(name)}`,
    );
  }
}

/** Says what to do if a secret in the stack's config cannot be decrypted. */
export function howToDecrypt(name: string): string {
  const variable = ENVIRONMENT_VARIABLES[name as keyof typeof ENVIRONMENT_VARIABLES];
  return `set the passphrase (PULUMI_CONFIG_PASSPHRASE), or give pulumi access to the secrets provider, or set ${variable}`;
}

/** Advises running the command over REST v2, because GraphQL does not show what it needs. */
export function requestsOverV2(words: readonly string[]): string {
  return `Run: npx pulumi-serverless-gpu ${words.map(shellWord).join(" ")} --api v2`;
}
