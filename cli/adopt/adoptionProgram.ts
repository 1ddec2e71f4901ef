import { GpuTier } from "../../sdk/contract/enums";
import { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS } from "../../sdk/endpoints/fields";
import {
  checkEndpointFields,
  crossFieldProblems,
  type EndpointInputOptions,
  missingFieldProblems,
} from "../../sdk/endpoints/input";
import { isGpuExclusion, splitList } from "../../sdk/endpoints/normalForms";
import type { Endpoint, EndpointSettings } from "../../sdk/endpoints/record";
import type { InputProblem } from "../../sdk/errors";

/** A program, and the endpoints that it does not hold. */
export interface AdoptionProgram {
  /** TypeScript. */
  readonly source: string;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

/** Fields of an endpoint as the program declares them, and those that this version cannot declare. */
interface Declaration {
  readonly fields: Partial<EndpointSettings>;
  readonly problems: readonly InputProblem[];
}

/**
 * A Pulumi program that takes over these endpoints as they are. What is `accepted` needs no config of its own. Fields at their default are left out: they stay
 * unmanaged, and so does what the package would not accept, with a comment that says why.
 */
export function adoptionProgram(endpoints: readonly Endpoint[], accepted: EndpointInputOptions = {}): AdoptionProgram {
  const { extraGpuTiers = [] } = accepted;
  const newTiers = unknownTiers(endpoints).filter((tier) => !extraGpuTiers.includes(tier));
  const words = { ...accepted, extraGpuTiers: [...extraGpuTiers, ...newTiers] };
  const logicalName = uniqueNames();
  const resources: string[] = [];
  const skipped: { id: string; reason: string }[] = [];
  for (const endpoint of endpoints) {
    const { fields, problems } = declare(endpoint, words);
    const isComplete = missingFieldProblems(fields).length === 0;
    if (isComplete) resources.push(resource(logicalName(endpoint.name), endpoint.id, fields, problems));
    else skipped.push({ id: endpoint.id, reason: oneLine(problems) });
  }
  return { source: `${header(resources.length, newTiers)}\n${resources.join("\n")}`, skipped };
}

function header(count: number, newTiers: readonly string[]): string {
  const many = count === 1 ? "1 endpoint" : `${count} endpoints`;
  const config = `//    pulumi config set serverless-gpu:extraGpuTiers ${newTiers.join(",")}\n`;
  return `// Takes over ${many}, as they were when "serverless-gpu adopt" wrote this. What to do next:
// 1. Make it the index.ts of a Pulumi program that depends on pulumi-serverless-gpu.
//    Change logical names (the first arguments) now if you want others; later it takes aliases.
// 2. Set the key and the addresses as they were set for "adopt".
${newTiers.length > 0 ? `//    Accept the GPU tiers that this version does not know:\n${config}` : ""}\
// 3. Run "pulumi up". It says of each endpoint that it is taken over and what was changed: nothing.
// 4. Take the adoptId lines out if you like. "pulumi destroy" will delete the endpoints from now on.
import { ServerlessEndpoint } from "pulumi-serverless-gpu";
`;
}

function resource(
  logicalName: string,
  id: string,
  fields: Partial<EndpointSettings>,
  problems: readonly InputProblem[],
): string {
  const lines = Object.entries(fields).map(([field, value]) => `  ${field}: ${toSource(field, value)},\n`);
  const comments = problems.map((problem) => `  // left to the service: ${oneLine([problem])}\n`);
  return `new ServerlessEndpoint(${literal(logicalName)}, {
  adoptId: ${literal(id)},
${[...lines, ...comments].join("")}});
`;
}

/** The fields that are worth declaring. A scalerValue needs its scalerType beside it. */
function declare(endpoint: Endpoint, words: EndpointInputOptions): Declaration {
  const given = Object.fromEntries(ENDPOINT_FIELDS.map((field) => [field, endpoint[field]]));
  const checked = checkEndpointFields(given, words);
  const problems = [...checked.problems, ...crossFieldProblems(checked.fields, false)];
  const refused = new Set(problems.map(({ property }) => property));
  const isDefault = ([field, value]: [string, unknown]) =>
    value === (ENDPOINT_DEFAULTS as Record<string, unknown>)[field] &&
    !(field === "scalerType" && endpoint.scalerValue !== ENDPOINT_DEFAULTS.scalerValue);
  const fields = Object.entries(checked.fields).filter((entry) => !refused.has(entry[0]) && !isDefault(entry));
  return { fields: Object.fromEntries(fields), problems };
}

function unknownTiers(endpoints: readonly Endpoint[]): string[] {
  const tiers = endpoints.flatMap(({ gpuIds }) => splitList(gpuIds)).filter((part) => !isGpuExclusion(part));
  // What is no word could do harm in the command that is shown to accept it.
  return [...new Set(tiers)].filter((tier) => !Object.hasOwn(GpuTier, tier) && /^\w+$/.test(tier));
}

/** Names resources after endpoints: letters, digits, hyphens and underscores, each name once. */
function uniqueNames(): (endpointName: string) => string {
  const taken = new Set<string>();
  return (endpointName) => {
    const words = endpointName.normalize("NFKD").replace(/\p{Mark}/gu, "");
    const base = words.replace(/[^\w]+/g, "-").replace(/^-+|-+$/g, "") || "endpoint";
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
    taken.add(name);
    return name;
  };
}

function toSource(field: string, value: unknown): string {
  const isList = (field === "gpuIds" || field === "locations") && typeof value === "string" && value.includes(",");
  return isList ? `[${splitList(value).map(literal).join(", ")}]` : literal(value);
}

/** Characters that end a line, or that change how the text around them is displayed. */
const INVISIBLE = /[\p{Control}\p{Format}\u2028\u2029]/gu;

/** A literal that reads as what it is: JSON leaves some line ends and invisible characters as they are. */
function literal(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** For a comment, whatever the texts of the service hold. */
function oneLine(problems: readonly InputProblem[]): string {
  return problems
    .map(({ property, message }) => `${property} ${message}`)
    .join("; ")
    .replace(INVISIBLE, " ");
}
