import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";
import { readLagMs } from "../records/history";
import { TEMPLATE_FIELDS, type TemplateInput } from "../templates/templateFields";
import type { Templates } from "../templates/templates";
import type { GraphqlPart } from "./part";

/** The fields of a template that `saveEndpoint` creates together with its endpoint. */
const { volumeInGb, portsConfig, isServerless, isPublic, volumeMountPath, category, ...OWN_TEMPLATE_FIELDS } =
  TEMPLATE_FIELDS;

/** Creates the part of the GraphQL API for templates. */
export function templatePart(templates: Templates, profile: Profile): GraphqlPart {
  return {
    schema: `
      extend type Mutation {
        saveTemplate(input: SaveTemplateInput): PodTemplate
        deleteTemplate(templateName: String): Void
      }
      extend type Query { podTemplate(id: String!): PodTemplate }
      extend type Account { podTemplates: [PodTemplate] }
      scalar JSON
      enum TemplateCategory { CPU GPU NVIDIA AMD }
      type EnvironmentVariable { key: String value: String }
      type PortConfig { port: String name: String }
      type PodTemplate {
        id: String ${graphqlFields(TEMPLATE_FIELDS, "output", profile)} boundEndpointId: String
        ${profile === "contract" ? "" : "isRunpod: Boolean"}
      }
      input EnvironmentVariableInput { key: String! value: String! }
      input PortConfigInput { port: String! name: String! }
      input EndpointTemplateInput { ${graphqlFields(OWN_TEMPLATE_FIELDS, "input", profile)} }
      input SaveTemplateInput { id: String ${graphqlFields(TEMPLATE_FIELDS, "input", profile)} }
    `,
    operations: {
      saveTemplate: ({ input }: { input: TemplateInput }) => ({ ...templates.save(input) }),
      deleteTemplate({ templateName }: { templateName?: string | null }) {
        templates.delete(templateName);
        return null;
      },
      podTemplate: ({ id }: { id: string }, { listLagMs }) =>
        templates.list(readLagMs(listLagMs)).find((template) => template.id === id) ?? null,
    },
    myself: { podTemplates: ({ listLagMs }) => templates.list(listLagMs) },
  };
}
