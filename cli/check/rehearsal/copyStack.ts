import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findProjectFile, projectField } from "../../connection/projectFile";
import { pulumiJson } from "../../pulumiCommand";
import { type Pulumi, succeeded } from "./engine";
import { assertRewritten, type Exported, PLACEHOLDER, type Rewritten, rewriteState, type Stage } from "./rewriteState";
import type { Workspace } from "./workspace";

const READ_TIMEOUT_MS = 120_000;
const SHOW = "--show-secrets";
const KEY_SETTING = "serverless-gpu:apiKey";

/** A copied stack in the temporary backend. */
export interface CopiedStack {
  /** The `pulumi` flags that select the stack. */
  readonly flags: readonly string[];
  readonly salt: string;
  /** Replaces its state. */
  readonly load: (state: Exported) => Promise<void>;
  /** Lets a destroy delete protected resources. */
  readonly unprotect: () => Promise<void>;
}

/** Reads the state of the real stack. */
export async function exportStack(stack: string, folder: string, withSecrets = false): Promise<Exported> {
  const args = ["stack", "export", "--stack", stack, ...(withSecrets ? [SHOW] : [])];
  const exported = await pulumiJson<Exported>(args, folder, READ_TIMEOUT_MS);
  if ("problem" in exported) throw new Error(`the state of the stack ${stack} cannot be read: ${exported.problem}`);
  return exported.value;
}

/** Creates an empty stack with the same name and config. Its secrets are placeholders. */
export async function createCopy(
  stack: string,
  { project, copy }: Workspace,
  pulumi: Pulumi,
  { withSecrets = false, keys = [] }: { readonly withSecrets?: boolean | undefined; readonly keys?: readonly string[] },
): Promise<CopiedStack> {
  const name = stack.split("/").at(-1) ?? stack;
  await succeeded("the copy of the stack cannot be created", pulumi(["stack", "init", name], { folder: copy }));
  const file = path.join(copy, `Pulumi.${name}.yaml`);
  const flags = ["--stack", name, "--config-file", file];
  const inCopy = (args: readonly string[], input?: string) =>
    succeeded(
      "the config of the copy cannot be written",
      pulumi([...args, ...flags], { folder: copy, ...(input !== undefined && { input }) }),
    );
  const salt = /^encryptionsalt:\s*(\S+)/m.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  if (salt === "") throw new Error("the copy of the stack has no secrets provider of its own, so nothing was started");
  await inCopy(["config", "set", "--secret", "rehearsal:placeholder", PLACEHOLDER]);
  const encrypted = /secure:\s*(\S+)/.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  const original = stackFile(project, stack);
  const text = existsSync(original) ? withoutKeys(readFileSync(original, "utf8"), keys) : "";
  writeFileSync(file, rewriteConfig(text, salt, encrypted), { mode: 0o600 });
  if (withSecrets) {
    const config = await pulumiJson<Record<string, { value?: string; secret?: boolean }>>(
      ["config", "--json", SHOW, "--stack", stack],
      project,
      READ_TIMEOUT_MS,
    );
    if ("problem" in config) throw new Error(`the config of the stack ${stack} cannot be decrypted: ${config.problem}`);
    for (const [key, { value, secret }] of Object.entries(config.value))
      if (secret && value !== undefined) await inCopy(["config", "set", "--secret", key], withoutKeys(value, keys));
  }
  // The config or the project file may contain the key as plain text. Replace it in both cases,
  // because the project file's config applies to every stack.
  if ([text, readFileSync(path.join(copy, projectFileName(copy)), "utf8")].some((each) => each.includes(KEY_SETTING)))
    await inCopy(["config", "set", "--secret", KEY_SETTING], PLACEHOLDER);
  return {
    flags,
    salt,
    async load(state) {
      const input = JSON.stringify(state);
      await succeeded(
        "the copied state cannot be used",
        pulumi(["stack", "import", "--stack", name], { folder: copy, input }),
      );
    },
    async unprotect() {
      const words = ["state", "unprotect", "--all", "--yes", "--stack", name];
      await succeeded("the copy cannot be unprotected", pulumi(words, { folder: copy }));
    },
  };
}

const projectFileName = (folder: string) => path.basename(findProjectFile(folder) ?? "");

const withoutKeys = (text: string, keys: readonly string[]) =>
  keys.reduce((shown, key) => shown.replaceAll(key, PLACEHOLDER), text);

/** Returns the file that contains a stack's config. The project file may specify its folder. */
export function stackFile(project: string, stack: string): string {
  const file = findProjectFile(project);
  return path.join(
    project,
    (file && projectField(file, "stackConfigDir")) ?? "",
    `Pulumi.${stack.split("/").at(-1)}.yaml`,
  );
}

/**
 * Returns the text of a stack's config with another secrets provider and the same value for all
 * secrets.
 */
export function rewriteConfig(text: string, salt: string, encrypted: string): string {
  const kept = text.split(/\r?\n/).filter((line) => !/^(secretsprovider|encryptedkey|encryptionsalt)\s*:/.test(line));
  const config = kept.join("\n").replace(/(\bsecure["']?\s*:\s*)("[^"]*"|'[^']*'|[^\s,}]+)/g, `$1${encrypted}`);
  return `encryptionsalt: ${salt}\n${config}`;
}

/**
 * Returns the rewritten state.
 * @throws Error if any part of it still refers to another account
 */
export function checkedState(exported: Exported, stage: Stage): Rewritten {
  const rewritten = rewriteState(exported, stage);
  assertRewritten(rewritten.state, stage);
  return rewritten;
}
