import { readFileSync } from "node:fs";
import { isObject } from "../../provider/properties";
import { oneLine } from "./source";
import { importFile } from "./state/importFile";
import type { OldState } from "./state/oldResource";
import { readPulumiState } from "./state/pulumiState";
import { removalCommands } from "./state/removal";
import { stateProgram } from "./state/stateProgram";
import { type LeftOut, type Successor, successorOf } from "./state/successors";
import { readTerraformState } from "./state/terraformState";

/** The options of `adopt --from`. */
export interface AdoptStateOptions {
  /** The file of the state. */
  readonly from: string;
  /** Text in the names. */
  readonly filter?: string;
  /** `true` for the file of `pulumi import` instead of a program. */
  readonly importFile?: boolean;
}

/** What `adopt --from` writes. */
export interface AdoptedState {
  /** The program, or the file for `pulumi import`. */
  readonly output: string;
  /** The lines for standard error. */
  readonly messages: readonly string[];
  readonly exitCode: number;
}

/**
 * Returns a program, or a file for `pulumi import`, that adopts the records of another provider's
 * state. Sends no request and needs no key.
 */
export function adoptState({ from, filter = "", importFile: isImport = false }: AdoptStateOptions): AdoptedState {
  const { tool, resources, warnings } = readState(from);
  const wanted = resources.filter(({ name, attributes }) =>
    [name, attributes.name].some((each) => String(each).toLowerCase().includes(filter.toLowerCase())),
  );
  const found = wanted.map(successorOf);
  const successors = found.filter((each): each is Successor => "kind" in each);
  const unmatched = found.filter((each): each is LeftOut => "reason" in each);
  if (successors.length === 0) {
    const which =
      resources.length === 0
        ? "no resources of a provider for RunPod"
        : `${resources.length} resources, none that can be adopted${filter === "" ? "" : ` with "${filter}" in its name`}`;
    const reasons = unmatched.map((each) => `\n  ${leftOutLine(each)}`).join("");
    throw new Error(`there is nothing to adopt: the state has ${which}${reasons}`);
  }
  const { output, leftOut, notes } = isImport ? imported(successors, tool) : program(successors, tool);
  const skipped = [...unmatched, ...leftOut];
  const messages = [...warnings.map((each) => `warning: ${oneLine(each)}`), ...skipped.map(leftOutLine), ...notes];
  return { output, messages, exitCode: skipped.length + warnings.length === 0 ? 0 : 1 };
}

function program(successors: readonly Successor[], tool: OldState["tool"]) {
  const { source, leftOut, secrets } = stateProgram(successors, tool);
  const notes = secrets.map((name) => `set the config value with: pulumi config set --secret ${name}`);
  return { output: source, leftOut, notes: [...notes, ...lostLines(without(successors, leftOut))] };
}

function imported(successors: readonly Successor[], tool: OldState["tool"]) {
  const { json, leftOut } = importFile(successors);
  const rest = without(successors, leftOut);
  const commands = removalCommands(
    tool,
    rest.map(({ old }) => old),
  );
  const notes = [
    "1. stop everything that applies the old program, then run: pulumi import --file <this file> --out <program>",
    "2. remove the resources from the old state (this deletes nothing at the service), then from the old program:",
    ...commands.map((command) => `   ${oneLine(command)}`),
  ];
  return { output: json, leftOut, notes: [...lostLines(rest), ...notes] };
}

function without(successors: readonly Successor[], leftOut: readonly LeftOut[]): readonly Successor[] {
  return successors.filter(({ old }) => !leftOut.some((each) => each.old === old));
}

function leftOutLine({ old: { address }, reason }: LeftOut): string {
  return `left out ${oneLine(address)}: ${oneLine(reason)}`;
}

/** Names the settings without a successor. They stay as they are at the service. */
function lostLines(successors: readonly Successor[]): string[] {
  return successors
    .filter(({ lost }) => lost.length > 0)
    .map(
      ({ old, lost }) =>
        `${oneLine(old.address)}: has no successor for ${oneLine(lost.join(", "))}: it stays as it is at the service`,
    );
}

/** Reads a state. No message quotes the file, which holds secrets. */
function readState(file: string): OldState {
  const text = readFileSync(file, "utf8");
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON. ${HOW_TO_EXPORT}`);
  }
  if (!isObject(state)) throw new Error(`${file} is no state. ${HOW_TO_EXPORT}`);
  if ("encrypted_data" in state) throw new Error(`${file} is encrypted. Decrypt it with: tofu state pull > state.json`);
  const found = readPulumiState(state) ?? readTerraformState(state);
  if (!found) throw new Error(`${file} is no state that this version can read. ${HOW_TO_EXPORT}`);
  return found;
}

const HOW_TO_EXPORT =
  'Write the file with "pulumi stack export --file state.json" (without --show-secrets), or "terraform state pull > state.json"';
