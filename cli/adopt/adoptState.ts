import { isObject } from "../../provider/engine/properties";
import type { ManagementApi } from "../../sdk/connection/settings";
import { readTextFile } from "../readTextFile";
import { oneLine } from "./source";
import { importFile, importProblem } from "./state/importFile";
import type { OldState } from "./state/oldResource";
import { overV2 } from "./state/overV2";
import { readPulumiState } from "./state/pulumiState";
import { REMOVAL_STEP, removable, removalCommands, withAmbiguity } from "./state/removal";
import { stateProgram } from "./state/stateProgram";
import { type LeftOut, onePerRecord, type Successor, successorOf } from "./state/successors";
import { readTerraformState } from "./state/terraformState";

export interface AdoptStateOptions {
  /** Path of the state file. */
  readonly from: string;
  /** Only adopts resources whose name contains this text. */
  readonly filter?: string;
  /** The API that the new program will use. @default "graphql" */
  readonly api?: ManagementApi;
  /** `true` to write a file for `pulumi import` instead of a program. */
  readonly importFile?: boolean;
}

/** The output of `adopt --from`. */
interface AdoptedState {
  /** The program, or the file for `pulumi import`. */
  readonly output: string;
  /** The lines to print to stderr. */
  readonly messages: readonly string[];
  readonly exitCode: number;
}

/**
 * Returns a program, or a file for `pulumi import`, that adopts the records of another provider's
 * state. Sends no request and needs no key.
 */
export function adoptState({
  from,
  filter = "",
  importFile: isImport = false,
  api = "graphql",
}: AdoptStateOptions): AdoptedState {
  const { tool, isEmpty, resources, warnings } = readState(from);
  if (isEmpty) return { output: isImport ? importFile([]) : EMPTY, messages: [NOTHING], exitCode: 0 };
  const wanted = resources.filter(({ name, attributes }) =>
    [name, attributes.name].some((each) => String(each).toLowerCase().includes(filter.toLowerCase())),
  );
  const found = wanted.map(successorOf);
  const { successors, leftOut: copies } = onePerRecord(found.filter((each): each is Successor => "kind" in each));
  const unmatched = [...found.filter((each): each is LeftOut => "reason" in each), ...copies];
  const { output, leftOut, notes } = isImport ? imported(successors, tool) : program(successors, tool, api);
  const skipped = [...unmatched, ...leftOut];
  if (leftOut.length === successors.length) throw nothingToAdopt(resources.length, filter, skipped);
  const messages = [...warnings.map((each) => `warning: ${oneLine(each)}`), ...skipped.map(leftOutLine), ...notes];
  return { output, messages, exitCode: skipped.length + warnings.length === 0 ? 0 : 1 };
}

const NOTHING = "the state has no resources, so there is nothing to adopt";

const EMPTY = `// ${NOTHING}\nexport {};\n`;

function nothingToAdopt(count: number, filter: string, leftOut: readonly LeftOut[]): Error {
  const which =
    count === 0
      ? "no resources of a provider for RunPod"
      : `${count} resources, none that can be adopted${filter === "" ? "" : ` with "${filter}" in its name`}`;
  const reasons = leftOut.map((each) => `\n  ${leftOutLine(each)}`).join("");
  return new Error(`there is nothing to adopt: the state has ${which}${reasons}`);
}

function program(all: readonly Successor[], tool: OldState["tool"], api: ManagementApi) {
  const { successors, leftOut: refused } = api === "v2" ? overV2(all) : { successors: all, leftOut: [] };
  const { source, leftOut: others, secrets, notes } = stateProgram(successors, tool, api);
  const leftOut = [...refused, ...others];
  const values = secrets.map((name) => `set the config value with: pulumi config set --secret ${name}`);
  return { output: source, leftOut, notes: [...values, ...notes, ...lostLines(without(successors, leftOut))] };
}

function imported(successors: readonly Successor[], tool: OldState["tool"]) {
  const { removable: moved, leftOut } = removable(successors, importProblem);
  const commands = removalCommands(tool, moved);
  const notes = [
    "1. stop everything that applies the old program, then run: pulumi import --file <this file> --out <program>",
    `2. ${REMOVAL_STEP.join(" ")}`,
    ...commands.map((command) => `   ${oneLine(command)}`),
  ];
  return { output: importFile(moved), leftOut, notes: [...lostLines(moved), ...notes] };
}

function without(successors: readonly Successor[], leftOut: readonly LeftOut[]): readonly Successor[] {
  return successors.filter(({ old }) => !leftOut.some((each) => each.old === old));
}

function leftOutLine({ old: { address }, reason }: LeftOut): string {
  return `left out ${oneLine(address)}: ${oneLine(reason)}`;
}

/** Lists the settings that this package cannot declare. They keep their value at RunPod. */
function lostLines(successors: readonly Successor[]): string[] {
  return successors
    .filter(({ lost }) => lost.length > 0)
    .map(
      ({ old, lost }) =>
        `${oneLine(old.address)}: the program does not manage ${oneLine(lost.join(", "))}, which ${lost.length === 1 ? "stays as it is" : "stay as they are"} at the service`,
    );
}

/** Reads a state file. Errors never quote the file, because it contains secrets. */
function readState(file: string): OldState {
  const text = readTextFile(file);
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON. ${HOW_TO_EXPORT}`);
  }
  if (!isObject(state)) throw new Error(`${file} is not a state. ${HOW_TO_EXPORT}`);
  if ("encrypted_data" in state) throw new Error(`${file} is encrypted. Decrypt it with: tofu state pull > state.json`);
  const found = readPulumiState(state) ?? readTerraformState(state);
  if (!found) throw new Error(`${file} is not a state that this version can read. ${HOW_TO_EXPORT}`);
  return withAmbiguity(found);
}

const HOW_TO_EXPORT =
  'Write the file with "pulumi stack export --file state.json" (without --show-secrets), or "terraform state pull > state.json"';
