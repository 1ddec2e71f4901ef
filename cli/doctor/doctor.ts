import { ownPackage } from "../ownPackage";
import { pulumi } from "../pulumiCommand";
import { printJson, printLines } from "../terminal";
import { checkCatalog } from "./catalog";
import { type Check, type CheckName, type CheckResult, together, withoutKeys } from "./check";
import { checkLackedFields } from "./fields";
import { checkLeftAdoptions } from "./leftAdoptions";
import { checkNode, checkPulumi } from "./machine";
import { checkPackage, checkPulumiSdk, checkVersions, findProgram } from "./program";
import { askAddresses, askWithKey, checkAddresses, checkApi, checkClock } from "./service";
import { readConfiguration } from "./settings";
import {
  checkAccount,
  checkLeftBehind,
  checkOtherServices,
  checkState,
  checkUnfinished,
  haveOwnProviders,
  ownResources,
  readSelectedState,
} from "./state";

export interface DoctorFlags {
  readonly api?: string;
  readonly json?: boolean;
}

/** Checks the setup and prints the findings. Returns the exit code. */
export async function doctor({ api, json }: DoctorFlags): Promise<number> {
  const checks = await examine(process.cwd(), api);
  const isOk = checks.every(({ status }) => status !== "failed");
  const { version } = ownPackage();
  if (json) printJson({ version, ok: isOk, checks }, 2);
  else printLines(describe(checks));
  return isOk ? 0 : 1;
}

async function examine(folder: string, api: string | undefined): Promise<Check[]> {
  const program = findProgram(folder);
  const stored = readSelectedState(program);
  const resources = stored.then(ownResources);
  const [engine, configuration, state] = await Promise.all([
    pulumi(["version"], folder),
    readConfiguration(folder, { api }, resources.then(haveOwnProviders)),
    resources.then(checkState),
  ]);
  const replies = await askAddresses(configuration.settings);
  const { lists, ...withKey } = await askWithKey(configuration, replies);
  const findings: Record<CheckName, CheckResult> = {
    node: checkNode(process.versions.node),
    pulumi: checkPulumi(engine, program),
    "pulumi-sdk": checkPulumiSdk(program),
    package: checkPackage(program),
    config: configuration.finding,
    addresses: checkAddresses(replies, configuration),
    api: checkApi(configuration),
    ...withKey,
    clock: checkClock(replies),
    versions: checkVersions(program),
    state: together([
      state,
      ...checkLackedFields(await resources, configuration.settings),
      ...(await checkCatalog(await resources, configuration.settings)),
      ...checkUnfinished(await stored),
      ...checkLeftBehind(await stored),
      ...checkLeftAdoptions(configuration.settings, await resources),
      ...(await checkOtherServices(await resources, configuration.settings.graphqlUrl)),
      ...checkAccount(await resources, lists, configuration.settings.graphqlUrl),
    ]),
  };
  return Object.entries(findings).map(([check, finding]) => withoutKeys({ check: check as CheckName, ...finding }));
}

function describe(checks: readonly Check[]): string[] {
  const lines = checks.flatMap(({ check, status, found, fix }) => [
    `${status.padEnd(9)}${check.padEnd(12)}${found}`,
    ...(fix?.split("\n").map((line) => `${" ".repeat(21)}To fix: ${line}`) ?? []),
  ]);
  const count = (status: string) => checks.filter((check) => check.status === status).length;
  const warnings = count("warning") === 1 ? "1 warning" : `${count("warning")} warnings`;
  return [...lines, "", `${count("failed")} failed, ${warnings}, ${count("ok")} ok`];
}
