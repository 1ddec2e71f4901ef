import { API_NAMES } from "../../sdk/connection/resolver";
import type { ManagementApi } from "../../sdk/connection/settings";
import { CONTAINER_FIELDS } from "../../sdk/containers/fields";
import { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS, FIELDS, isEndpointField } from "../../sdk/endpoints/fields";
import {
  checkEndpointFields,
  crossFieldProblems,
  type EndpointInputOptions,
  missingFieldProblems,
} from "../../sdk/endpoints/input";
import { unusedVolumeField } from "../../sdk/endpoints/networkVolumes";
import { splitList } from "../../sdk/endpoints/normalForms";
import type { Endpoint, EndpointSettings } from "../../sdk/endpoints/record";
import type { InputProblem } from "../../sdk/errors/errors";
import { listFields, unsetValue } from "../../sdk/records/fields";
import { withoutSecretTexts } from "./secrets";
import { literal, oneLine, uniqueNames } from "./source";
import { wordsToAccept } from "./wordsToAccept";

/** A program, and the endpoints that it leaves out. */
interface AdoptionProgram {
  /** TypeScript code. */
  readonly source: string;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

/**
 * The fields of an endpoint as the program declares them, and the problems with fields that this
 * version cannot declare.
 */
interface Declaration {
  readonly fields: Partial<EndpointSettings>;
  readonly problems: readonly InputProblem[];
}

/**
 * Returns a Pulumi program that adopts these endpoints without changing them. It omits fields that
 * have their default value, so they stay unmanaged. It also omits values that this package does not
 * accept, and says why in a comment. REST v2 does not show an endpoint's template. A program for
 * REST v2 therefore declares the container instead: a `templateId` could not be compared, so
 * applying it would replace the workers.
 * @param accepted GPU pools and countries that the program can use without extra config
 * @param api the API that the endpoints were read with
 */
export function adoptionProgram(
  endpoints: readonly Endpoint[],
  accepted: EndpointInputOptions = {},
  api: ManagementApi = "graphql",
): AdoptionProgram {
  const newWords = wordsToAccept(
    endpoints.map(({ gpuIds }) => gpuIds),
    accepted,
  );
  const words = { ...accepted, acceptWords: [...(accepted.acceptWords ?? []), ...newWords] };
  const logicalName = uniqueNames("endpoint");
  const resources: string[] = [];
  const skipped: { id: string; reason: string }[] = [];
  for (const endpoint of endpoints) {
    const { fields, problems } = declare(endpoint, words);
    const { shown, comments: texts } = withoutSecretTexts(Object.entries(fields));
    const comments = [...problems.map((problem) => `not managed: ${oneLine(told([problem]))}`), ...texts];
    if (endpoint.templateId === "") comments.push(...variablesComment(endpoint));
    if (missingFieldProblems(fields).length === 0)
      resources.push(resource(logicalName(endpoint.name), endpoint.id, shown, comments));
    else skipped.push({ id: endpoint.id, reason: oneLine(told([...problems, ...missingFieldProblems(fields)])) });
  }
  return { source: `${header(resources.length, newWords, api)}\n${resources.join("\n")}`, skipped };
}

function header(count: number, newWords: readonly string[], api: ManagementApi): string {
  const many = count === 1 ? "1 endpoint" : `${count} endpoints`;
  const config = `//    pulumi config set serverless-gpu:acceptWords ${newWords.join(",")}\n`;
  return `// Adopts ${many} as they were when "npx pulumi-serverless-gpu adopt" wrote this file. Next:
// 1. Make it the index.ts of a Pulumi program that depends on pulumi-serverless-gpu. If you want
//    other logical names (the first arguments), change them now. A later change needs aliases.
// 2. Keep the key and the URLs in the environment, as for "adopt", or in the stack's config. Apply
//    the program over ${API_NAMES[api]}, as it was written: serverless-gpu:api: ${api} in Pulumi.yaml.
${newWords.length > 0 ? `//    Accept the GPU pools that this version does not know yet:\n${config}` : ""}\
// 3. Run "pulumi up". It must say "adopted" and "nothing changed" for each endpoint.
// 4. Remove the adoptId lines and run "pulumi up" again: only then are they the stack's own, and
//    "pulumi destroy" deletes them. While adoptId is set, it only releases them, and you still pay.
import { ServerlessEndpoint } from "pulumi-serverless-gpu";
`;
}

function resource(
  logicalName: string,
  id: string,
  fields: readonly (readonly [string, unknown])[],
  comments: readonly string[],
): string {
  const lines = fields.map(([field, value]) => `  ${field}: ${toSource(field, value)},\n`);
  return `new ServerlessEndpoint(${literal(logicalName)}, {
  adoptId: ${literal(id)},
${[...lines, ...comments.map((comment) => `  // ${comment}\n`)].join("")}});
`;
}

/**
 * Returns the fields that differ from their defaults, and `scalerType` if there is a `scalerValue`.
 */
function declare(endpoint: Endpoint, words: EndpointInputOptions): Declaration {
  const given = Object.fromEntries(ENDPOINT_FIELDS.map((field) => [field, endpoint[field]]));
  const { [unusedVolumeField(endpoint)]: _, env: __, ...one } = given;
  if (endpoint.templateId !== "") for (const field of CONTAINER_FIELDS) delete one[field];
  const checked = checkEndpointFields(one, words);
  const problems = [...checked.problems, ...crossFieldProblems(checked.fields, false)];
  const refused = new Set(problems.map(({ property }) => property));
  const isDefault = ([field, value]: [string, unknown]) =>
    isEndpointField(field) &&
    (value === FIELDS[field].default || value === unsetValue(FIELDS[field])) &&
    !(field === "scalerType" && endpoint.scalerValue !== ENDPOINT_DEFAULTS.scalerValue);
  const fields = Object.entries(checked.fields).filter((entry) => !refused.has(entry[0]) && !isDefault(entry));
  return { fields: Object.fromEntries(fields), problems };
}

/**
 * Lists the names of the variables, which stay unchanged. Their values are omitted because they may
 * be secret.
 */
function variablesComment({ env }: Endpoint): string[] {
  const names = Object.keys(env).sort();
  return names.length === 0 ? [] : [`not managed: its variables ${oneLine(names.join(", "))} stay as they are`];
}

function toSource(field: string, value: unknown): string {
  const isList = listFields(FIELDS).includes(field) && typeof value === "string" && value.includes(",");
  return isList ? `[${splitList(value).map(literal).join(", ")}]` : literal(value);
}

function told(problems: readonly InputProblem[]): string {
  return problems.map(({ property, message }) => `${property} ${message}`).join("; ");
}
