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
import { ConfigurationError } from "../../sdk/errors";
import { redact, SecretText } from "../../sdk/secret";
import type { Learned } from "../pulumiCommand";
import { say } from "../terminal";
import { findProjectFile, projectConfig } from "./projectFile";
import { decrypt, readStackConfig, type StackConfig } from "./stackConfig";

/** The options of a command that say which connection it uses. */
export interface ConnectionFlags {
  /** The API. */
  readonly api?: string | undefined;
  /** The reason for `api`, for people. @default "--api" */
  readonly apiFrom?: string;
  /** The stack whose config counts; `true` and `undefined` for the selected one. */
  readonly stack?: string | true | undefined;
}

/** A connection, and what was read to find it. */
export interface Found extends Resolved {
  /** Reads a setting of the stack's config or, without one, of the project file. */
  readonly readConfig: ReadConfig;
  /** The stack's config; `undefined` if it is not needed, or there is no project. */
  readonly config?: Learned<StackConfig> | undefined;
  /** The secrets of the stack's config that are needed. */
  readonly secrets: ReadonlyMap<string, Learned<string>>;
}

/** With these, the config has nothing to add. */
const WHOLE: readonly SettingName[] = ["apiKey", "api", "graphqlUrl", "queueUrl"];

/**
 * Returns the connection of a command: that of the option `--api`, the environment, the stack's
 * config and the project file, in this order.
 * @param isThorough `true` to read the config even if it has nothing to add
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
 * Returns the connection of a command, for `createClient`, and says on standard error which API and
 * account it uses and where that comes from.
 * @throws ConfigurationError if there is no key or no service
 */
export async function commandConnection(flags: ConnectionFlags): Promise<EnvironmentSettings> {
  return announced(await findConnection(process.cwd(), flags));
}

/** Returns a connection as `commandConnection` does, for commands that also need the config. */
export function announced(found: Found): EnvironmentSettings {
  requireSecrets(found);
  const { settings } = found;
  const apiKey = requireApiKey(settings);
  new SecretText(apiKey);
  requireAddress(settings, "graphqlUrl");
  say(lineOf(found));
  return { ...settings, apiKey, service: serviceName(settings), api: managementApi(settings) };
}

/** Returns the line that says which API and account a command uses. */
export function lineOf(found: Found): string {
  const { config } = found;
  const unread = config && "problem" in config ? `; ${unreadConfig(config.problem)}` : "";
  return redact(connectionLine(found) + unread);
}

/** Says why the stack's config was not read. */
export function unreadConfig(problem: string): string {
  return /^no stack selected/.test(problem) ? "no stack is selected" : `the stack's config cannot be read (${problem})`;
}

/**
 * Refuses to go on without a setting that the stack's config has as a secret: what comes next may
 * be another account.
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

/** Says what to do if a secret of the stack's config cannot be decrypted. */
export function howToDecrypt(name: string): string {
  const variable = ENVIRONMENT_VARIABLES[name as keyof typeof ENVIRONMENT_VARIABLES];
  return `set the passphrase (PULUMI_CONFIG_PASSPHRASE), or give pulumi access to the secrets provider, or set ${variable}`;
}

/** Returns the advice to run a command over REST v2, for what GraphQL does not show. */
export function requestsOverV2(words: readonly string[]): string {
  const quoted = words.map((word) => (/^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return `Run: serverless-gpu ${quoted.join(" ")} --api v2`;
}
