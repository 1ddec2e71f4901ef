import type { Capabilities } from "../../sdk/contract/capabilities";
import { FIELDS } from "../../sdk/endpoints/fields";
import { isContainerField, NO_CONTAINER } from "../../sdk/endpoints/ownContainer";
import type { Endpoint } from "../../sdk/endpoints/record";
import type { InputProblem } from "../../sdk/errors/errors";
import { isObject, type Properties, pick } from "../engine/properties";
import { fieldsIn } from "../fields/managed";

/*
 * An endpoint uses either the program's template or its own container. The service may show both,
 * so the inputs or outputs decide which of them is kept in state.
 */

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** Returns `true` if the program gives the endpoint its own container. */
export function hasOwnContainer({ imageName }: Properties): boolean {
  return isSet(imageName);
}

/**
 * Returns `true` if state describes an endpoint by its container. For an import, neither the
 * container nor the template is in state; it is described by its template if RunPod shows one.
 */
function holdsContainer(known: Properties, { templateId }: Endpoint): boolean {
  if (hasOwnContainer(known)) return true;
  return isSet(known.templateId) ? false : known.templateId === "" || templateId === "";
}

/**
 * Returns the endpoint's fields in the form that state keeps, plus the id of the template that
 * belongs to the endpoint, because a deletion needs it. State keeps only the variables that the
 * program sets: other variables may contain someone else's secrets.
 */
export function endpointFields(endpoint: Endpoint, known: Properties): Properties {
  const fields = fieldsIn(FIELDS, endpoint);
  if (!holdsContainer(known, endpoint)) return { ...fields, ...NO_CONTAINER };
  const env = pick({ ...endpoint.env }, (name) => isObject(known.env) && Object.hasOwn(known.env, name));
  const { template } = endpoint;
  return { ...fields, templateId: "", env, ...(template?.isBound && { [BOUND_TEMPLATE]: template.id }) };
}

/** The name of the output that keeps the id of the template that belongs to the endpoint. */
export const BOUND_TEMPLATE = "__template";

/** Returns the deletion option that names the template that belongs to the endpoint. */
export function boundTemplateOf({ [BOUND_TEMPLATE]: id }: Properties): { readonly boundTemplateId?: string } {
  return typeof id === "string" ? { boundTemplateId: id } : {};
}

/**
 * Returns the inputs without the `null` values of the alternative (template or container) that the
 * endpoint does not use.
 */
export function withOneSource(inputs: Properties): Properties {
  return pick(inputs, (name) => inputs[name] !== null || !staysWithOther(name, inputs));
}

/**
 * Returns `true` if a field belongs to the alternative (template or container) that the endpoint
 * does not use.
 */
export function staysWithOther(field: string, inputs: Properties): boolean {
  if (field === "templateId") return hasOwnContainer(inputs);
  return isContainerField(field) && isSet(inputs.templateId);
}

/** Returns why an endpoint cannot be adopted with the program's container. */
export function refusesContainer({ template }: Endpoint, inputs: Properties): string | undefined {
  return hasOwnContainer(inputs) && template?.isBound === false ? ADOPTION : undefined;
}

/**
 * Returns a problem if a change switches between template and container on an API that binds
 * templates to endpoints, because that is not possible there without damage.
 */
export function sourceProblems(
  oldInputs: Properties,
  inputs: Properties,
  { bindsTemplates, service }: Pick<Capabilities, "bindsTemplates" | "service">,
): InputProblem[] {
  // At other services, endpoints don't have their own containers. Another check reports that.
  if (!bindsTemplates || service === undefined) return [];
  if (isSet(oldInputs.templateId) && hasOwnContainer(inputs)) return [{ property: "imageName", message: TO_CONTAINER }];
  if (hasOwnContainer(oldInputs) && isSet(inputs.templateId)) return [{ property: "templateId", message: TO_TEMPLATE }];
  return [];
}

const OVER_V2 = "use REST v2 (SERVERLESS_GPU_API=v2), which can do it";
const ADOPTION =
  "the program sets imageName, but the endpoint has a template that does not belong to it and that others may use. Set " +
  `templateId to the id of that template instead, or ${OVER_V2}`;
const TO_CONTAINER =
  "cannot replace templateId over GraphQL: the service binds a template only to a new endpoint. Keep templateId and change " +
  `the template, or ${OVER_V2}. To set imageName, change the resource's logical name, which creates a new endpoint`;
const TO_TEMPLATE =
  "cannot replace imageName over GraphQL: the endpoint's own template would be left behind. Keep imageName, or " +
  `${OVER_V2}. To set templateId, change the resource's logical name, which creates a new endpoint`;
