import type { Capabilities } from "../../sdk/contract/capabilities";
import { FIELDS } from "../../sdk/endpoints/fields";
import { isContainerField, NO_CONTAINER } from "../../sdk/endpoints/ownContainer";
import type { Endpoint } from "../../sdk/endpoints/record";
import type { InputProblem } from "../../sdk/errors";
import { variablesOf } from "../container/variables";
import { fieldsIn } from "../fields/managed";
import { leftVariables } from "../machine/unfinishedWrite";
import { isObject, type Properties, pick, UNKNOWN } from "../properties";
import type { Leftover, Situation } from "../records/recordKind";

/*
 * An endpoint has either the template of the program, or a container of its own. The service may
 * show both, so inputs or outputs decide which one state holds.
 */

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Returns `true` if the program gives the endpoint a container of its own. */
export function hasOwnContainer({ imageName }: Properties): boolean {
  return isSet(imageName);
}

/**
 * Returns `true` if state holds the container of an endpoint. An import knows neither: then it is
 * the template, if the service shows it.
 */
function holdsContainer(known: Properties, { templateId }: Endpoint): boolean {
  if (hasOwnContainer(known)) return true;
  return isSet(known.templateId) ? false : known.templateId === "" || templateId === "";
}

/**
 * Returns the fields of an endpoint as state holds them, with the id of the template that belongs
 * to it: a deletion must know it. State holds only the variables that the program sets: others may
 * be somebody else's secrets.
 */
export function endpointFields(endpoint: Endpoint, known: Properties): Properties {
  const fields = fieldsIn(FIELDS, endpoint);
  if (!holdsContainer(known, endpoint)) return { ...fields, ...NO_CONTAINER };
  const env = pick({ ...endpoint.env }, (name) => isObject(known.env) && Object.hasOwn(known.env, name));
  const { template } = endpoint;
  return { ...fields, templateId: "", env, ...(template?.isBound && { [BOUND_TEMPLATE]: template.id }) };
}

/** The output with the id of the template that belongs to the endpoint. */
export const BOUND_TEMPLATE = "__template";

/** Returns the option of a deletion with the template that belongs to the endpoint. */
export function boundTemplateOf({ [BOUND_TEMPLATE]: id }: Properties): { readonly boundTemplateId?: string } {
  return typeof id === "string" ? { boundTemplateId: id } : {};
}

/**
 * Returns the inputs without `null` for fields of the form, template or container, that the
 * endpoint does not use.
 */
export function withOneSource(inputs: Properties): Properties {
  return pick(inputs, (name) => inputs[name] !== null || !staysWithOther(name, inputs));
}

/**
 * Returns `true` for a field of the form, template or container, that the endpoint does not use.
 */
export function staysWithOther(field: string, inputs: Properties): boolean {
  if (field === "templateId") return hasOwnContainer(inputs);
  return isContainerField(field) && isSet(inputs.templateId);
}

/**
 * Returns the problems of an adoption with a container, and of a change between template and
 * container, where templates are bound: neither can be done without damage.
 */
export function sourceProblems(
  oldInputs: Properties,
  inputs: Properties,
  { bindsTemplates, service }: Pick<Capabilities, "bindsTemplates" | "service">,
): InputProblem[] {
  // Endpoints at other services have no containers of their own, which another check reports.
  if (!bindsTemplates || service === undefined) return [];
  const isNew = Object.keys(oldInputs).length === 0;
  if (isNew && inputs.adoptId !== undefined && hasOwnContainer(inputs))
    return [{ property: "imageName", message: ADOPTION }];
  if (isSet(oldInputs.templateId) && hasOwnContainer(inputs)) return [{ property: "imageName", message: TO_CONTAINER }];
  if (hasOwnContainer(oldInputs) && isSet(inputs.templateId)) return [{ property: "templateId", message: TO_TEMPLATE }];
  return [];
}

const OVER_V2 = "use REST v2 (SERVERLESS_GPU_API=v2), which can do it";
const ADOPTION =
  "cannot be set for an endpoint that is adopted over GraphQL: its template may be used by others. Set templateId to the " +
  `id of its template instead, or ${OVER_V2}`;
const TO_CONTAINER =
  "cannot replace templateId over GraphQL: the service binds a template only to a new endpoint. Keep templateId and change " +
  `the template, or give the resource another logical name, which makes a new endpoint, or ${OVER_V2}`;
const TO_TEMPLATE =
  "cannot replace imageName over GraphQL: the endpoint's own template would stay behind. Keep imageName, or give the " +
  `resource with the templateId of a ServerlessTemplate another logical name, which makes a new endpoint, or ${OVER_V2}`;

/** Returns the variables that a killed run has left in the container, as a field to save. */
export function leftoverVariables(service: string, { id, outputs, inputs }: Situation): Leftover | undefined {
  if (!hasOwnContainer(inputs) || inputs.imageName === UNKNOWN) return undefined;
  const left = leftVariables({ service, noun: "endpoint", id }, outputs);
  const names = left.filter((name) => !variablesOf(inputs).includes(name)).sort();
  if (names.length === 0) return undefined;
  const text = `removes the variables ${names.join(", ")} that the program does not set from endpoint ${id}`;
  return { field: "env", text };
}
