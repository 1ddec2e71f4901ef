import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { type Emulator, startEmulator } from "../../../emulator";
import type { Resolved } from "../../../sdk/connection/resolver";
import {
  ENVIRONMENT_VARIABLES,
  type EnvironmentSettings,
  type ServiceName,
  serviceName,
} from "../../../sdk/connection/settings";
import { findConnection } from "../../connection/connection";
import { findProjectFile, projectConfig } from "../../connection/projectFile";
import type { CheckFlags } from "../checkFlags";
import { judge, type Review } from "../judge";
import { lastFailedUp } from "../rejected";
import { type Applied, applyToCopy, previewCopy } from "./apply";
import { assumeSecrets, withHiddenSecrets } from "./assumeSecrets";
import { type CopiedStack, checkedState, createCopy, exportStack, stackFile } from "./copyStack";
import { decryptedPlan } from "./decryptPlan";
import { pulumiIn, stopEngines } from "./engine";
import { hooksNote, leftOutNote, missingPackage, otherPackages, refuseNamedPlugins, type Step } from "./otherResources";
import { type Played, playedLoad } from "./play";
import { askingNote, filesThatAsk, placeholderAdvice } from "./programFiles";
import { type Account, merged, readAccount } from "./readAccount";
import { type Exported, keysIn } from "./rewriteState";
import { noRecords, recordsOfState, seedOf } from "./seed";
import { createReferencedStacks } from "./stackReferences";
import { type StandIn, startStandIn } from "./standIn";
import { createWorkspace, type Workspace } from "./workspace";

const EXIT_CODE_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

/** The options of a rehearsal. */
export type RehearsalFlags = Omit<CheckFlags, "stack"> & { readonly stack: string };

/** The result of a rehearsal. */
export interface Rehearsal {
  readonly stack: string;
  readonly isCreation: boolean;
  /** The secrets that may or may not change. */
  readonly unknown: readonly string[];
  readonly applied: Applied;
  /** The load before, after and through the change; `undefined` without a load. */
  readonly played?: Played | undefined;
  /** The steps of the preview before the update. */
  readonly steps: readonly Step[];
  /** Notes on what the rehearsal does not cover. */
  readonly notes: readonly string[];
}

/** Applies a change to a copy of a stack. Returns what its preview and its update show. */
export async function rehearse(flags: RehearsalFlags): Promise<{ review: Review; rehearsal: Rehearsal }> {
  const real = await realPart(flags);
  await using emulator = await startEmulator({
    profile: real.service === "runpod" ? "observed" : "contract",
    coldStartMs: 0,
    drainMs: 0,
    templateReleaseMs: 0,
    rateLimits: { limits: "off", management: "off", graphql: "off" },
  });
  const workspace = createWorkspace(emulator, flags.env ?? []);
  let standIn: StandIn | undefined;
  const ends = Object.entries(EXIT_CODE_OF_SIGNAL).map(([signal, code]) => {
    const end = () => {
      // Stop the engine first. Otherwise, it would continue, and write into the removed folders.
      stopEngines();
      standIn?.stop();
      workspace.remove();
      process.exit(code);
    };
    process.once(signal, end);
    return () => process.off(signal, end);
  });
  try {
    refuseNamedPlugins(workspace.copy);
    standIn = await startStandIn(otherPackages(real.exported?.deployment.resources ?? []), {
      folder: workspace.program,
      env: workspace.env,
    });
    return await rehearsed(flags, real, { emulator, workspace, standIn });
  } catch (error) {
    const { message } = error as Error;
    throw new Error(message + placeholderAdvice(message, flags.withSecrets === true), { cause: error });
  } finally {
    standIn?.stop();
    workspace.remove();
    for (const end of ends) end();
  }
}

/** The data that the rehearsal reads from the real stack and account before it starts anything. */
interface RealPart {
  readonly service: ServiceName | undefined;
  readonly exported?: Exported | undefined;
  /** Real API keys, which the copy must not have. */
  readonly keys: readonly string[];
}

async function realPart({ stack, creation, withSecrets }: RehearsalFlags): Promise<RealPart> {
  const ofEnvironment = process.env[ENVIRONMENT_VARIABLES.apiKey]?.trim();
  if (creation) return { service: serviceInFiles(stack), keys: ofEnvironment ? [ofEnvironment] : [] };
  const exported = await exportStack(stack, process.cwd(), withSecrets);
  const resources = exported.deployment.resources ?? [];
  const isRunpod = resources.some(({ outputs }) => String(outputs?.__account ?? "").startsWith("runpod "));
  // A key in the config can be read only if the secrets are decrypted.
  const { settings }: Pick<Resolved, "settings"> =
    isRunpod && !withSecrets ? { settings: {} } : await findConnection(process.cwd(), { stack });
  const keys = [ofEnvironment, settings.apiKey, ...keysIn(resources)].filter((key): key is string => Boolean(key));
  return { service: isRunpod ? "runpod" : serviceName(settings), exported, keys: [...new Set(keys)] };
}

/** Finds the service without asking the backend, which a pull request from a fork cannot read. */
function serviceInFiles(stack: string): ServiceName | undefined {
  const projectFile = findProjectFile(process.cwd());
  const files = projectFile === undefined ? [] : [stackFile(path.dirname(projectFile), stack), projectFile];
  const configs = files.filter((file) => existsSync(file)).map((file) => projectConfig(file).get("service"));
  return serviceName({ service: process.env[ENVIRONMENT_VARIABLES.service] || configs.find(Boolean) });
}

interface Stage {
  readonly emulator: Emulator;
  readonly workspace: Workspace;
  readonly standIn: StandIn;
}

async function rehearsed(
  flags: RehearsalFlags,
  { exported, service, keys }: RealPart,
  { emulator, workspace, standIn }: Stage,
) {
  const env = { ...workspace.env, ...standIn.env };
  const pulumi = pulumiIn(workspace.project, env);
  const stack = await createCopy(flags.stack, workspace, pulumi, { withSecrets: flags.withSecrets, keys });
  const stage = { url: emulator.url, apiKey: emulator.apiKey, keys };
  const copied = exported && checkedState(exported, { ...stage, salt: stack.salt });
  const ofReferences = exported ? await createReferencedStacks(exported, stage, workspace, pulumi) : [];
  const ofState = copied ? recordsOfState(copied.state.deployment.resources ?? []) : noRecords();
  const account = flags.fromState || flags.creation ? undefined : await readAccount(flags.stack);
  emulator.seed(seedOf(account ? merged(ofState, account.records) : ofState, service));
  emulator.setWorkerQuota(account?.workerQuota);
  const leftOut: string[] = [];
  const preview = async (more: readonly string[] = []): ReturnType<typeof previewCopy> => {
    try {
      return await previewCopy(pulumi, stack, more);
    } catch (error) {
      const name = missingPackage((error as Error).message);
      if (name === undefined || leftOut.includes(name)) throw error;
      leftOut.push(name);
      Object.assign(env, standIn.leaveOut(name));
      return preview(more);
    }
  };
  const unknown = copied ? await load(workspace, preview, stack, copied.state, flags) : [];
  const { text, steps } = await preview();
  const faults = flags.fault ?? [];
  // Add these faults before the review, because the review also checks the stock.
  for (const fault of faults.filter(({ effect }) => effect.soldOut || effect.stock)) emulator.faults.add(fault);
  const review = await judge(text, async () => atEmulator(emulator), flags, {
    owner: "the emulator",
    failedUp: flags.creation ? undefined : await lastFailedUp(flags.stack),
  });
  const applied = await applyToCopy(pulumi, stack, { emulator, steps, faults });
  const file = flags.load === undefined ? undefined : path.resolve(flags.load);
  const played =
    file === undefined
      ? undefined
      : await playedLoad(file, flags, { steps, changes: applied.changes, prices: review.prices });
  const { failure } = applied;
  const rehearsal: Rehearsal = {
    stack: flags.stack,
    isCreation: flags.creation === true,
    unknown,
    applied: { ...applied, failure: failure && failure + placeholderAdvice(failure, flags.withSecrets === true) },
    played,
    steps,
    notes: [
      ...(copied?.notes ?? []),
      ...ofReferences,
      ...leftOutNote(leftOut),
      ...hooksNote(steps),
      ...askingNote(filesThatAsk(workspace.program)),
      ...notesOf(flags, account),
    ],
  };
  return { review, rehearsal };
}

/** Loads the copied state. Returns the secrets that may or may not change. */
async function load(
  workspace: Workspace,
  preview: (more: readonly string[]) => ReturnType<typeof previewCopy>,
  stack: CopiedStack,
  state: Exported,
  { withSecrets }: RehearsalFlags,
) {
  const isKnown = withSecrets || !JSON.stringify(state).includes('"plaintext"');
  await stack.load(isKnown ? state : withHiddenSecrets(state));
  if (isKnown) return [];
  // Only a plan shows the values. The file stays encrypted, because the program may have its own
  // secrets.
  const plan = path.join(workspace.copy, "plan.json");
  const { steps } = await preview(["--save-plan", plan]);
  const decrypted = decryptedPlan(readFileSync(plan, "utf8"), stack.salt, workspace.env.PULUMI_CONFIG_PASSPHRASE ?? "");
  const unknown = assumeSecrets(state.deployment.resources ?? [], decrypted, steps);
  rmSync(plan);
  await stack.load(state);
  return unknown;
}

const atEmulator = ({ url, apiKey }: Emulator): EnvironmentSettings => ({
  apiKey,
  graphqlUrl: url,
  restUrl: url,
  queueUrl: url,
  api: "v2",
});

function notesOf({ creation, fromState }: RehearsalFlags, account: Account | undefined): string[] {
  return [
    ...(creation
      ? [
          "This rehearses a creation, not the update that will happen: neither the stack's state nor the account was read.",
        ]
      : [
          "This machine's notes on unfinished rollouts are not used, so the rehearsal does not test a release whose test an earlier run has not finished.",
        ]),
    ...(fromState && !creation
      ? ["The resources are those in the state. Changes that were made only at the service are not included."]
      : []),
    "Stock, prices and the spend limit are the emulator's, not the account's.",
    ...(account?.workerQuota === undefined ? ["The account's worker quota is not known here."] : []),
  ];
}
