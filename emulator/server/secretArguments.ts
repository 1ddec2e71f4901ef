/** The text that stands for a secret in the journal. */
export const REDACTED = "[redacted]";

/** The arguments of an operation, as they were sent. */
type Arguments = Readonly<Record<string, unknown>>;

/**
 * Removes secrets from arguments: storage credentials, the query of a webhook URL, passwords, and
 * the values of secrets and variables.
 */
export function withoutSecrets(args: Arguments): Record<string, unknown> {
  const { s3Config, webhook, input, ...rest } = args;
  const shown: Record<string, unknown> = rest;
  if (input !== undefined) shown.input = inputWithoutSecrets(input);
  if (typeof s3Config === "object" && s3Config !== null) shown.s3Config = { ...s3Config, accessSecret: REDACTED };
  if (typeof webhook === "string") shown.webhook = webhook.replace(/\?.*$/s, `?${REDACTED}`);
  return shown;
}

/** The parts of a GraphQL input that contain secrets. */
interface SecretInput {
  readonly password?: unknown;
  /** The value of a secret. */
  readonly value?: unknown;
  readonly env?: unknown;
  /** A template within an endpoint's input. */
  readonly template?: unknown;
  readonly cloudStorageConfig?: unknown;
}

const isInput = (input: unknown): input is SecretInput => typeof input === "object" && input !== null;
const isVariable = (it: unknown): it is { key?: unknown; value?: unknown } => typeof it === "object" && it !== null;

function inputWithoutSecrets(input: unknown): unknown {
  if (!isInput(input)) return input;
  const { password, value, env, template, cloudStorageConfig, ...shown } = input;
  return {
    ...shown,
    ...(template !== undefined && { template: inputWithoutSecrets(template) }),
    ...(cloudStorageConfig !== undefined && { cloudStorageConfig: REDACTED }),
    ...(password !== undefined && { password: REDACTED }),
    ...(value !== undefined && { value: REDACTED }),
    ...(env !== undefined && { env: Array.isArray(env) ? env.map(variableWithoutValue) : REDACTED }),
  };
}

function variableWithoutValue(variable: unknown): unknown {
  return isVariable(variable) ? { key: variable.key, value: REDACTED } : REDACTED;
}

/**
 * Returns `true` if a secret is removed from every text. Strings shorter than 4 characters are not,
 * because they may be ordinary words or letters.
 */
export function isHidden(secret: string): boolean {
  return secret.length >= 4;
}

/** Returns the secrets that an error message may quote, longest first. */
export function secretsIn({ input }: Arguments): string[] {
  const secrets = secretValues(input).filter(isHidden);
  return secrets.sort((a, b) => b.length - a.length);
}

/** Returns every secret in an operation's input. */
export function secretValues(input: unknown): string[] {
  if (!isInput(input)) return [];
  const { env, password, value, template, cloudStorageConfig } = input;
  const values = Array.isArray(env) ? env.map((it) => (isVariable(it) ? it.value : it)) : [env];
  return [...[password, value, cloudStorageConfig, ...values].flatMap(stringsIn), ...secretValues(template)];
}

function stringsIn(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [String(value)];
}
