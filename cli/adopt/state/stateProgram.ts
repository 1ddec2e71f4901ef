import { acceptedWords } from "../../../provider/connection/config";
import { API_NAMES } from "../../../sdk/connection/resolver";
import type { ManagementApi } from "../../../sdk/connection/settings";
import { literal, oneLine, uniqueNames } from "../source";
import { wordsToAccept } from "../wordsToAccept";
import { declare, type ReadSecret } from "./declare";
import { isOtherService, providerNote, providerSource } from "./providers";
import { REMOVAL_STEP, removable, removalCommands } from "./removal";
import { type LeftOut, SUCCESSOR_CLASSES, type Successor } from "./successors";

/** A program that adopts another provider's resources, and a list of what it leaves out. */
interface StateProgram {
  /** TypeScript code. */
  readonly source: string;
  readonly leftOut: readonly LeftOut[];
  /** The names of the config values that the program reads. */
  readonly secrets: readonly string[];
  /** Points for the user to check in the program. */
  readonly notes: readonly string[];
}

interface Declared {
  /** The logical name. It may differ from the old one for children of components. */
  readonly name: string;
  readonly successor: Successor;
  readonly constant: string;
  readonly args: readonly (readonly [string, string])[];
  readonly comments: readonly string[];
}

/**
 * Returns a Pulumi program that adopts these records without changing them. It keeps the logical
 * names of the old program, and uses literal ids so that a preview can compare the records.
 * @param tool the tool that wrote the old state; the program names its commands
 * @param api the API that the program will use
 */
export function stateProgram(
  successors: readonly Successor[],
  tool: "pulumi" | "terraform",
  api: ManagementApi = "graphql",
): StateProgram {
  const secrets = new Set<string>();
  const objects = new Set<string>();
  const configName = uniqueNames("secret");
  const readConfig = (wanted: string, whole?: "object") => {
    const name = configName(wanted);
    secrets.add(name);
    if (whole) objects.add(name);
    const read = whole ? "requireSecretObject<Record<string, string>>" : "requireSecret";
    return `config.${read}(${literal(name)})`;
  };
  const readSecret: ReadSecret = ({ old }, field, whole) => readConfig(`${old.name}-${field}`, whole);
  const accepted = acceptedWords(() => undefined);
  const newWords = wordsToAccept(
    successors.map(({ fields }) => String(fields.gpuIds ?? "")),
    accepted,
  );
  const words = { ...accepted, acceptWords: [...accepted.acceptWords, ...newWords] };
  const constantOf = constants();
  const { removable: moved, leftOut } = removable(successors, (each) => {
    const { problem } = declare(each, words, () => "");
    return problem === undefined ? undefined : howToDeclare(problem);
  });
  const declared: Declared[] = [];
  const taken = new Set<string>();
  for (const kind of SUCCESSOR_CLASSES) {
    for (const successor of moved.filter((each) => each.kind === kind)) {
      const { args, comments } = declare(successor, words, readSecret);
      const { old, lost } = successor;
      const kept = lost.length === 0 ? [] : [`not managed, stays as it is: ${oneLine(lost.join(", "))}`];
      const name = distinct(old.name, (each) => taken.has(`${kind} ${each}`));
      taken.add(`${kind} ${name}`);
      declared.push({
        name,
        successor,
        args,
        comments: [...comments, ...kept],
        constant: constantOf(old.name, NOUNS[kind]),
      });
    }
  }
  const providers = new Map(
    declared.flatMap(({ successor: { old } }) => (old.provider === undefined ? [] : [[old.provider, old] as const])),
  );
  const accounts = new Map([...providers.keys()].map((name) => [name, constantOf(name, "provider")]));
  const providerSources = [...providers].map(([name, old]) =>
    providerSource(accounts.get(name) ?? "", name, old, (setting) => readConfig(`${name}-${setting}`)),
  );
  const notes = [
    ...[...objects].map((name) => `the config value ${name} is JSON, such as {"NAME": "value"}`),
    ...[...providers].filter(([, old]) => isOtherService(old)).map(([name]) => providerNote(name)),
  ];
  const used = [...(providers.size > 0 ? ["ServerlessGpuProvider"] : []), ...new Set(declared.map(kindOf))].sort();
  const imports = secrets.size > 0 ? 'import * as pulumi from "@pulumi/pulumi";\n' : "";
  const config = secrets.size > 0 ? "\nconst config = new pulumi.Config();\n" : "";
  const resources = declared.map((each) => resourceSource(each, declared, accounts));
  const source = `${header(declared, tool, api, [...secrets], newWords)}${imports}import { ${used.join(", ")} } from "pulumi-serverless-gpu";
${config}
${[...providerSources, ...resources].join("\n")}`;
  return { source, leftOut, secrets: [...secrets], notes };
}

function kindOf({ successor }: Declared): string {
  return successor.kind;
}

function howToDeclare(problem: string): string {
  return `it cannot be declared from this state: ${problem}. Write it with "adopt --filter <name>", which reads the service`;
}

/** The suffix of the constant names for each kind. */
const NOUNS = {
  ContainerRegistryAuth: "auth",
  Secret: "secret",
  NetworkVolume: "volume",
  ServerlessTemplate: "template",
  ServerlessEndpoint: "endpoint",
} as const;

/** Returns a function that creates unique constant names ending with a noun. */
function constants(): (name: string, noun: string) => string {
  const unique = uniqueNames("resource");
  return (name, noun) => {
    const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
    if (words.at(-1)?.toLowerCase() !== noun || words.length === 1) words.push(noun);
    const [first = noun, ...rest] = words;
    const constant = [first.charAt(0).toLowerCase() + first.slice(1), ...rest.map(capitalized)].join("");
    return unique(/^\d/.test(constant) ? `_${constant}` : constant).replaceAll("-", "_");
  };
}

/** Returns the name, followed by a number if it is already taken. */
function distinct(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const each = number === 1 ? name : `${name}-${number}`;
    if (!isTaken(each)) return each;
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function resourceSource(
  { name, successor, constant, args, comments }: Declared,
  all: readonly Declared[],
  accounts: ReadonlyMap<string, string>,
): string {
  const { kind, old, id, fields } = successor;
  const { templateId, networkVolumeId, networkVolumeIds, containerRegistryAuthId } = fields;
  const ids = [templateId, networkVolumeId, containerRegistryAuthId, networkVolumeIds].flat();
  const needed = all.filter((other) => other.successor !== successor && ids.includes(other.successor.id));
  const isNeeded = all.some(({ successor: { fields: theirs } }) => Object.values(theirs).flat().includes(id));
  const account = old.provider === undefined ? undefined : accounts.get(old.provider);
  const isProtected = kind === "NetworkVolume" || old.options.includes("protect");
  const options = [
    ...(needed.length > 0 ? [`dependsOn: [${needed.map((each) => each.constant).join(", ")}]`] : []),
    ...(isProtected ? ["protect: true"] : []),
    ...(old.options.includes("retainOnDelete") ? ["retainOnDelete: true"] : []),
    ...(account === undefined ? [] : [`provider: ${account}`]),
  ];
  const lines = [
    `  adoptId: ${literal(id)},\n`,
    ...args.map(([field, value]) => `  ${field}: ${value},\n`),
    ...comments.map((comment) => `  // ${comment}\n`),
  ];
  const end = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  const start = isNeeded ? `const ${constant} = ` : "";
  return `${start}new ${kind}(${literal(name)}, {\n${lines.join("")}}${end});\n`;
}

/** Fields that each API does not show. Adopting a record overwrites them. */
const UNSEEN: Readonly<Record<ManagementApi, string>> = {
  graphql:
    "user and the password of a registry credential, and the value of a secret, which the service does not show.",
  v2: "value of a secret, which the service does not show.",
};

function header(
  declared: readonly Declared[],
  tool: "pulumi" | "terraform",
  api: ManagementApi,
  secrets: readonly string[],
  newWords: readonly string[],
): string {
  const many = declared.length === 1 ? "1 resource" : `${declared.length} resources`;
  const config = secrets.map((name) => `//      pulumi config set --secret ${name}\n`).join("");
  const words =
    newWords.length === 0 ? "" : `//      pulumi config set serverless-gpu:acceptWords ${newWords.join(",")}\n`;
  const asked =
    config + words === ""
      ? ""
      : `// 2. Set the config. A command without a value asks for it, and does not show it:\n${config}${words}`;
  const commands = removalCommands(
    tool,
    declared.map(({ successor }) => successor),
  );
  const steps = [
    `Run "pulumi preview". For each resource it must say that it is adopted, and which fields change: none, except the\n//    ${UNSEEN[api]}`,
    `${REMOVAL_STEP.join("\n//    ")}\n${commands.map((command) => `//      ${oneLine(command)}\n`).join("")}`,
    'Run "pulumi up", then "pulumi preview --refresh --expect-no-changes".',
    `Remove the adoptId lines and run "pulumi up" again: only then are they the stack's own, and "pulumi destroy" deletes\n//    them. While adoptId is set, it only releases them: they stay and are billed.`,
  ];
  const first = asked === "" ? 2 : 3;
  const numbered = steps.map((step, index) => `// ${first + index}. ${step.trimEnd()}\n`).join("");
  return `// Adopts ${many} as the old program declared them. Next steps:
// 1. Stop everything that applies the old program. Make this file the index.ts of a Pulumi program
// that depends on pulumi-serverless-gpu, and that uses ${API_NAMES[api]} (serverless-gpu:api:
// ${api} in its Pulumi.yaml). Keep the key in the environment or in the stack's config.
${asked}${numbered}`;
}
