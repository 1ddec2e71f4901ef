import { createHash, randomUUID } from "node:crypto";
import path from "node:path";
import { systemClock } from "../sdk/contract/clock";
import { workerPrice } from "./catalog/accountLimits";
import { createCatalog } from "./catalog/catalog";
import { newKey } from "./io/auth";
import { ANNOUNCED_GRAPHQL_LIMITS, OBSERVED_LIMITS } from "./jobs/quota";
import type { ManagementLimits } from "./jobs/rateLimits";
import { DATA_CENTERS } from "./model/dataCenters";
import type { Profile } from "./model/fidelity";
import { seededRandom } from "./model/random";
import { createStock, type LevelOf } from "./model/stock";
import type { EmulatorOptions } from "./options";
import { createWorkerHost } from "./programs/workerHost";
import { type Account, createAccount } from "./server/account";
import { DataFile, keyInDataFile } from "./server/dataFile";
import { createFaults } from "./server/faultMatch";
import { createJournal } from "./server/journal";
import type { AccountContext, AccountOptions } from "./server/kinds";
import { createRoutes, type Routes } from "./server/routes";
import { DEFAULT_RELEASE_MS } from "./templates/templates";
import { steadyClock } from "./time/virtualClock";
import { VOLUME_DATA_CENTERS } from "./volumes/volumes";
import { createBilling } from "./workers/billing";
import { createWatch } from "./workers/watch";
import { createWorkerLogs } from "./workers/workerLogs";

/** The parts of an emulator; see `createParts`. */
export type Parts = ReturnType<typeof createParts>;

/** Creates the parts of an emulator that is not listening yet. */
export function createParts(options: EmulatorOptions) {
  const { profile = "observed", clock = systemClock } = options;
  const apiKey = options.apiKey ?? keyInDataFile(options.dataFile) ?? newKey();
  const keys = { apiKey, restrictedApiKey: options.restrictedApiKey };
  const random = seededRandom(options.randomSeed ?? Math.floor(Math.random() * 2 ** 32));
  const faultParts = createFaults(
    random.next,
    () => routes.operations,
    () => account.endpoints.reconcile(),
  );
  const { dropsWebhook, workerFaults } = faultParts;
  const journalParts = createJournal(clock, keys, options);
  const logs = createWorkerLogs(clock);
  const workerHost = createWorkerHost(clock, (output) => {
    const { workerId, stream, line } = output;
    logs.add(workerId, stream === "emulator" ? "system" : "container", line);
    journalParts.addOutput(output);
  });
  const dataFile = dataFileOf(options.dataFile, apiKey, () => account);
  const steady = steadyClock(clock);
  const billing = createBilling(steady, workerPrice);
  const context = contextOf(options, {
    clock: steady,
    profile,
    random: random.next,
    dropsWebhook,
    workerFaults,
    workerHost,
    logs,
    billing,
    changed: () => dataFile?.changed(),
    watch: createWatch(),
  });
  const levelOf = createStock(faultParts.stockRules);
  const account = createAccount(context, rulesOf(options, profile, levelOf), options.strictReferences ?? false);
  const { volumeDataCenters = VOLUME_DATA_CENTERS } = options;
  const catalog = createCatalog(levelOf, dataCenterIds(options), volumeDataCenters);
  const routes: Routes = createRoutes({
    profile,
    keys,
    ...account,
    accountId: accountIdOf(options.dataFile),
    serverlessDiscount: options.serverlessDiscount ?? null,
    clock: context.clock,
    random: random.next,
    managementLimits: managementLimits(options, profile),
    graphqlEnded: options.graphqlEnded,
    graphqlLimits: limitsOf(options.rateLimits?.graphql, ANNOUNCED_GRAPHQL_LIMITS),
    dataCenters: dataCenterIds(options),
    catalog,
    billing,
    logs,
  });
  return {
    apiKey,
    keys,
    clock,
    random,
    context,
    account,
    workerHost,
    logs,
    billing,
    dataFile,
    routes,
    ...faultParts,
    ...journalParts,
  };
}

/**
 * Returns the id of the account. The data file identifies the account, not the key, because keys
 * are rotated. Without a data file, every emulator is a separate account.
 */
function accountIdOf(dataFile: string | undefined): string {
  const identity = dataFile === undefined ? randomUUID() : path.resolve(dataFile);
  return `user_${createHash("sha256").update(identity).digest("hex").slice(0, 20)}`;
}

/** Returns the data file, if the options specify one. */
function dataFileOf(file: string | undefined, apiKey: string, account: () => Account): DataFile | undefined {
  if (file === undefined) return undefined;
  return new DataFile(file, () => ({ apiKey, ...account().snapshot() }));
}

type Given = Pick<
  AccountContext,
  | "clock"
  | "profile"
  | "random"
  | "dropsWebhook"
  | "workerFaults"
  | "workerHost"
  | "logs"
  | "billing"
  | "changed"
  | "watch"
>;

function contextOf(options: EmulatorOptions, given: Given): AccountContext {
  const { drainMs = 1000, coldStartMs = 200, staleFlashBoot = false, handlers, rateLimits, remoteWebhooks } = options;
  return { ...given, drainMs, coldStartMs, staleFlashBoot, handlers, rateLimits, remoteWebhooks };
}

function rulesOf(options: EmulatorOptions, profile: Profile, levelOf: LevelOf): AccountOptions {
  const { takenTemplateNames = [], reserveTemplateNames = false, volumeDataCenters = VOLUME_DATA_CENTERS } = options;
  const { keepBoundTemplates: keepBound = false } = options;
  const releaseMs = options.templateReleaseMs ?? (profile === "observed" ? DEFAULT_RELEASE_MS : 0);
  return {
    limits: { workerQuota: options.workerQuota, spendLimit: options.spendLimit },
    templates: { takenNames: takenTemplateNames, reserveDeletedNames: reserveTemplateNames, releaseMs, keepBound },
    volumeDataCenters,
    dataCenters: dataCenterIds(options),
    levelOf,
  };
}

function managementLimits({ rateLimits = {} }: EmulatorOptions, profile: Profile): ManagementLimits {
  const { management = profile === "observed" ? "real" : "off" } = rateLimits;
  return limitsOf(management, OBSERVED_LIMITS);
}

function limitsOf(given: "real" | "off" | ManagementLimits = "off", real: ManagementLimits): ManagementLimits {
  if (given === "off") return {};
  return given === "real" ? real : given;
}

function dataCenterIds({ volumeDataCenters = VOLUME_DATA_CENTERS }: EmulatorOptions): string[] {
  return [...new Set([...DATA_CENTERS.map(({ id }) => id), ...volumeDataCenters])];
}
