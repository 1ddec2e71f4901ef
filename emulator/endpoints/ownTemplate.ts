import type { Endpoint } from "./endpoints";

/** A template to create for one endpoint. GraphQL and REST v2 validate its fields. */
export interface OwnTemplate {
  readonly name: string;
}

/** The template operations needed for endpoints that own their template. */
export interface OwnTemplates {
  create(template: OwnTemplate): { readonly id: string };
  /** Binds a template to an endpoint, so that both are deleted together. */
  bind(templateId: string, endpointId: string): void;
  remove(templateId: string): unknown;
  find(templateId: string): object | undefined;
}

/**
 * Creates an endpoint and its own template. Creates either both or neither.
 * @param create creates the endpoint with the template
 * @param isBound `true` if the template is deleted together with the endpoint
 */
export function createWithTemplate(
  templates: OwnTemplates,
  template: OwnTemplate,
  isBound: boolean,
  create: (templateId: string) => Endpoint,
): Endpoint {
  const { id } = templates.create(template);
  try {
    const endpoint = create(id);
    if (isBound) templates.bind(id, endpoint.record.id);
    return endpoint;
  } catch (error) {
    templates.remove(id);
    throw error;
  }
}
