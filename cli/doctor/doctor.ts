import { type Command, parseOptions } from "../command";
import { ownPackage } from "../ownPackage";
import { type Check, type CheckName, type Finding, withoutKeys } from "./check";
import { checkNode, checkPulumi } from "./machine";
import { checkPackage, checkPulumiSdk, checkVersions, findProgram } from "./program";
import { pulumi } from "./pulumiCommand";
import { askAddresses, checkAddresses, checkClock, checkKey } from "./service";
import { readConfiguration } from "./settings";
import { checkState } from "./state";

const help = `Usage: serverless-gpu doctor [options]

Looks for what keeps the provider from working, and says how to mend it: run it in the folder of your Pulumi program. It
changes nothing. A key is tried with one harmless query, and never shown.

Checks:
  node         the version of Node.js
  pulumi       the Pulumi CLI on PATH, and its version
  pulumi-sdk   @pulumi/pulumi, loaded from the program's folder, and its version
  package      pulumi-serverless-gpu is a direct dependency of the program, as its state needs it
  config       the key and the service are set, in the environment or the selected stack's config, and no name is mistyped
  addresses    all three are well formed, encrypted unless local, and answer
  key          the service accepts it
  clock        this machine's clock is within a minute of the service's
  versions     program and command are of one version, and nothing is installed twice
  state        this version can read what the selected stack's state holds

Options:
  --json        print one JSON object: {"version", "ok", "checks": [{"check", "status", "found", "mend"}]}, where status is
                ok, warning, failed or skipped; warnings and failures have "mend"
  --help, -h    show this help

Examples:
  serverless-gpu doctor
  serverless-gpu doctor --json | jq '.checks[] | select(.status == "failed")'

Exit codes:
  0  nothing failed; there may be warnings
  1  a check failed
  2  wrong usage: an unknown option`;

/** `doctor [--json]`: what is wrong with the set-up, and how to mend it. */
export const doctor: Command = {
  name: "doctor",
  summary: "Check the set-up, and say what is wrong and how to mend it",
  help,
  run,
};

async function run(args: string[]): Promise<number> {
  const { json } = parseOptions(args, { json: { type: "boolean" } }).values;
  const checks = await examine(process.cwd());
  const isOk = checks.every(({ status }) => status !== "failed");
  const { version } = ownPackage();
  process.stdout.write(json ? `${JSON.stringify({ version, ok: isOk, checks }, null, 2)}\n` : told(checks));
  return isOk ? 0 : 1;
}

async function examine(folder: string): Promise<Check[]> {
  const program = findProgram(folder);
  const [engine, configuration, state] = await Promise.all([
    pulumi(["version"], folder),
    readConfiguration(program),
    checkState(program),
  ]);
  const replies = await askAddresses(configuration.settings);
  const findings: Record<CheckName, Finding> = {
    node: checkNode(process.versions.node),
    pulumi: checkPulumi(engine, program),
    "pulumi-sdk": checkPulumiSdk(program),
    package: checkPackage(program),
    config: configuration.finding,
    addresses: checkAddresses(replies, configuration),
    key: await checkKey(configuration, replies),
    clock: checkClock(replies),
    versions: checkVersions(program),
    state,
  };
  return Object.entries(findings).map(([check, finding]) => withoutKeys({ check: check as CheckName, ...finding }));
}

function told(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ check, status, found, mend }) => [
    `${status.padEnd(9)}${check.padEnd(12)}${found}`,
    ...(mend === undefined ? [] : [`${" ".repeat(21)}To mend: ${mend}`]),
  ]);
  const count = (status: string) => checks.filter((check) => check.status === status).length;
  return `${lines.join("\n")}\n\n${count("failed")} failed, ${count("warning")} warnings, ${count("ok")} ok\n`;
}
