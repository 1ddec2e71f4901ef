import { isDeepStrictEqual } from "node:util";
import { CONTAINER_DEFAULTS, CONTAINER_FIELDS, CONTAINER_TABLE } from "../containers/fields";
import type { Container, EnvChanges } from "../containers/record";
import type { InputProblem } from "../errors/errors";
import { type KeptField, selectionOfField, unsetValue } from "../records/fields";
import type { Endpoint, EndpointSettings } from "./record";

// Programs load this file on startup, so it must not import any libraries.

/*
 * The container of an endpoint that uses none of the program's templates. REST v2 shows the
 * container on each endpoint. Over GraphQL, the container is a template that the service binds to
 * the endpoint.
 */

/**
 * The container's fields in the table of endpoint fields. Over GraphQL, only some services have
 * these fields.
 */
export const OWN_CONTAINER_TABLE = {
  imageName: { ...CONTAINER_TABLE.imageName, default: "", onlyAt: "runpod" },
  env: { ...CONTAINER_TABLE.env, onlyAt: "runpod" },
  // If an endpoint has a template, the service does not show this field.
  containerDiskInGb: { ...CONTAINER_TABLE.containerDiskInGb, unset: 0, onlyAt: "runpod" },
  dockerArgs: { ...CONTAINER_TABLE.dockerArgs, onlyAt: "runpod" },
  ports: { ...CONTAINER_TABLE.ports, onlyAt: "runpod" },
  containerRegistryAuthId: { ...CONTAINER_TABLE.containerRegistryAuthId, onlyAt: "runpod" },
} as const;

/** The container fields of an endpoint that does not have its own container. */
export const NO_CONTAINER = Object.fromEntries(
  CONTAINER_FIELDS.map((field) => [field, unsetValue(OWN_CONTAINER_TABLE[field])]),
) as unknown as Container;

/** The template of an endpoint, which is read together with the endpoint. */
export const TEMPLATE_FIELD: KeptField = {
  selection: `template { id name boundEndpointId ${CONTAINER_FIELDS.map((field) => selectionOfField(field, CONTAINER_TABLE[field])).join(" ")} }`,
  isReadOnly: true,
  isUncertain: true,
  parts: ["boundEndpointId"],
};

type Fields = Readonly<Record<string, unknown>>;

/** Returns `true` if the field is a container field. */
export function isContainerField(name: string): name is keyof Container {
  return Object.hasOwn(OWN_CONTAINER_TABLE, name);
}

/** Returns problems if an endpoint has neither a template nor its own container, or has both. */
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

/**
 * Returns problems if an endpoint with its own container has settings for rolling out template
 * changes.
 */
function templateRollOutProblems({ templateRevision, recycleWorkers }: Fields): InputProblem[] {
  const problems: InputProblem[] = [];
  if (templateRevision !== undefined) {
    const message =
      "is for endpoints with a templateId, which this endpoint does not have: remove it. The service itself rolls out " +
      "changes of imageName, env and the other container settings";
    problems.push({ property: "templateRevision", message });
  }
  if (recycleWorkers === true) {
    const message =
      "is for endpoints with a templateId, which this endpoint does not have: remove it. The service itself replaces " +
      "workers when imageName, env or another container setting changes";
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

/**
 * Returns the container of a new endpoint, with defaults. Returns `undefined` if the endpoint uses
 * a template instead.
 */
export function newContainer(settings: Partial<EndpointSettings>): Container | undefined {
  const { imageName } = settings;
  if (!imageName) return undefined;
  const given = CONTAINER_FIELDS.filter((field) => settings[field] !== undefined);
  return { ...CONTAINER_DEFAULTS, imageName, ...Object.fromEntries(given.map((field) => [field, settings[field]])) };
}

/**
 * Returns a name for the template that contains an endpoint's container settings, in the format
 * that the service uses for such names. The random digits are needed because, unlike the names of
 * endpoints, the names of templates must be unique.
 */
export function drawTemplateName(endpointName: string, random: () => number): string {
  const digits = Math.floor(random() * 36 ** 7).toString(36);
  return `${endpointName}__template__${digits.padStart(7, "0")}`;
}

/** Changes to an endpoint in normal form. In `env`, `null` removes a variable. */
export type ParsedChanges = Partial<Omit<EndpointSettings, "env">> & { readonly env?: EnvChanges | null };

/**
 * Returns the changes with all environment variables. If the endpoint had a template before, the
 * changes also contain a complete container.
 * @param changedEnv returns the environment variables after the changes
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
    // If one of the two is empty, the endpoint uses the other one.
    ...(templateId && { templateId }),
    ...(imageName && { imageName }),
    ...(env !== undefined && { env: changedEnv(baseEnv, env) }),
  };
}

/** Splits changes into container changes, if there are any, and all other changes. */
export function splitChanges(changes: Partial<EndpointSettings>): {
  readonly container: Partial<Container> | undefined;
  readonly others: Partial<EndpointSettings>;
} {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  const container = Object.fromEntries(entries.filter(([name]) => isContainerField(name)));
  const others = Object.fromEntries(entries.filter(([name]) => !isContainerField(name)));
  return { container: Object.keys(container).length > 0 ? container : undefined, others };
}
