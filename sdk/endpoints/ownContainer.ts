import { isDeepStrictEqual } from "node:util";
import { CONTAINER_DEFAULTS, CONTAINER_FIELDS, CONTAINER_TABLE } from "../containers/fields";
import type { Container, EnvChanges } from "../containers/record";
import type { InputProblem } from "../errors";
import { type KeptField, selectionOfField, unsetValue } from "../records/fields";
import type { Endpoint, EndpointSettings } from "./record";

// Programs load this file when they start, so it imports no library.

/*
 * The container of an endpoint without a template of the program's. REST v2 shows it on each
 * endpoint. Over GraphQL it is a template that the service binds to the endpoint.
 */

/** The rows of a container in the table of endpoints. Only some services have them over GraphQL. */
export const OWN_CONTAINER_TABLE = {
  imageName: { ...CONTAINER_TABLE.imageName, default: "", onlyAt: "runpod" },
  env: { ...CONTAINER_TABLE.env, onlyAt: "runpod" },
  // An endpoint with a template shows none.
  containerDiskInGb: { ...CONTAINER_TABLE.containerDiskInGb, unset: 0, onlyAt: "runpod" },
  dockerArgs: { ...CONTAINER_TABLE.dockerArgs, onlyAt: "runpod" },
  ports: { ...CONTAINER_TABLE.ports, onlyAt: "runpod" },
  containerRegistryAuthId: { ...CONTAINER_TABLE.containerRegistryAuthId, onlyAt: "runpod" },
} as const;

/** The container of an endpoint that has none of its own. */
export const NO_CONTAINER = Object.fromEntries(
  CONTAINER_FIELDS.map((field) => [field, unsetValue(OWN_CONTAINER_TABLE[field])]),
) as unknown as Container;

/** The template of an endpoint, which is read with it. */
export const TEMPLATE_FIELD: KeptField = {
  selection: `template { id name boundEndpointId ${CONTAINER_FIELDS.map((field) => selectionOfField(field, CONTAINER_TABLE[field])).join(" ")} }`,
  isReadOnly: true,
  isUncertain: true,
  parts: ["boundEndpointId"],
};

type Fields = Readonly<Record<string, unknown>>;

/** Returns `true` for the name of a field of a container. */
export function isContainerField(name: string): name is keyof Container {
  return Object.hasOwn(OWN_CONTAINER_TABLE, name);
}

/** Returns the problems of an endpoint with neither a template nor a container, or with both. */
export function containerProblems(fields: Fields): InputProblem[] {
  const { templateId = "", imageName = "" } = fields;
  if (templateId === "" && imageName === "") {
    return [{ property: "templateId", message: "is required (or imageName, for an endpoint without a template)" }];
  }
  if (templateId === "") return templateRollOutProblems(fields);
  return CONTAINER_FIELDS.filter((field) => isSet(field, fields[field])).map((property) => ({
    property,
    message: "cannot be combined with templateId: set it in the template, or remove templateId",
  }));
}

/** Returns the problems of a rollout of template changes at an endpoint with its own container. */
function templateRollOutProblems({ templateRevision, recycleWorkers }: Fields): InputProblem[] {
  const problems: InputProblem[] = [];
  if (templateRevision !== undefined) {
    const message =
      "is of a template, and this endpoint has none: remove it. The service rolls its changes out by itself";
    problems.push({ property: "templateRevision", message });
  }
  if (recycleWorkers === true) {
    const message =
      "replaces workers when a template changes, and this endpoint has none: remove it. The service rolls changes of " +
      "imageName, env and the other container settings out by itself";
    problems.push({ property: "recycleWorkers", message });
  }
  return problems;
}

function isSet(field: keyof Container, value: unknown): boolean {
  const { default: byDefault } = { ...OWN_CONTAINER_TABLE[field] };
  return (
    value !== undefined && !isDeepStrictEqual(value, byDefault) && value !== unsetValue(OWN_CONTAINER_TABLE[field])
  );
}

/** Returns the container of a new endpoint, with defaults; `undefined` if a template has it. */
export function newContainer(settings: Partial<EndpointSettings>): Container | undefined {
  const { imageName } = settings;
  if (!imageName) return undefined;
  const given = CONTAINER_FIELDS.filter((field) => settings[field] !== undefined);
  return { ...CONTAINER_DEFAULTS, imageName, ...Object.fromEntries(given.map((field) => [field, settings[field]])) };
}

/**
 * Returns a name in the service's own form for the template that holds an endpoint's container.
 * Unlike the name of an endpoint, that of a template must be unique.
 */
export function drawTemplateName(endpointName: string, random: () => number): string {
  const digits = Math.floor(random() * 36 ** 7).toString(36);
  return `${endpointName}__template__${digits.padStart(7, "0")}`;
}

/** Changes of an endpoint in normal form, in which `null` removes a variable. */
export type ParsedChanges = Partial<Omit<EndpointSettings, "env">> & { readonly env?: EnvChanges | null };

/**
 * Returns changes with whole variables. An endpoint that had a template before gets a whole
 * container.
 * @param changedEnv returns the variables after changes
 */
export function withWholeContainer(
  before: Endpoint,
  { env, templateId, imageName, ...others }: ParsedChanges,
  changedEnv: (before: Container["env"], changes: EnvChanges | null) => Container["env"],
): Partial<EndpointSettings> {
  const isMove = Boolean(imageName) && before.templateId !== "" && !before.template?.isBound;
  const baseEnv = isMove ? {} : before.env;
  return {
    ...(isMove && { ...CONTAINER_DEFAULTS, templateId: "" }),
    ...others,
    // If they are empty, the endpoint has the other one.
    ...(templateId && { templateId }),
    ...(imageName && { imageName }),
    ...(env !== undefined && { env: changedEnv(baseEnv, env) }),
  };
}

/** Splits changes into those of the container, if there are any, and the others. */
export function splitChanges(changes: Partial<EndpointSettings>): {
  readonly container: Partial<Container> | undefined;
  readonly others: Partial<EndpointSettings>;
} {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  const container = Object.fromEntries(entries.filter(([name]) => isContainerField(name)));
  const others = Object.fromEntries(entries.filter(([name]) => !isContainerField(name)));
  return { container: Object.keys(container).length > 0 ? container : undefined, others };
}
