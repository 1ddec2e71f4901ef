import { z } from "zod";
import { CONTAINER_FIELDS, required, reset } from "../model/containerFields";
import {
  type OptionalInput,
  patchSchemaOf,
  type RequiredInput,
  requiredString,
  type Stored,
  seedSchemaOf,
  storedSchemasOf,
} from "../model/fieldTable";
import { FLAG, NAME } from "../model/shapes";
import { property } from "../model/v2Form";

/** A port of a template, and its name in RunPod's console. */
export interface PortConfig {
  /** The port. */
  readonly port: string;
  /** Its name. */
  readonly name: string;
}

const portsConfig = z.array(z.strictObject({ port: z.string(), name: z.string() }));

/** The category of a template that REST v2 creates without one. */
const NEW_CATEGORY = "NVIDIA";

/**
 * All fields that clients can set. Types, the GraphQL schema, seeds and `saveTemplate` are derived
 * from this table.
 */
export const TEMPLATE_FIELDS = {
  /** The name, which is unique among all templates. */
  name: requiredString("String", property("name", NAME)),
  ...CONTAINER_FIELDS,
  /** The size of the pod volume in GB (integer); 0 for serverless templates. */
  volumeInGb: required("Int!", z.int(), 0),
  /** Port names in RunPod's console. */
  portsConfig: reset<readonly PortConfig[]>("[PortConfigInput]", portsConfig, []),
  /** `true` for endpoint templates, `false` for pod templates. */
  isServerless: reset("Boolean", z.boolean(), false, {
    v2: property("serverless", FLAG),
    store: (given, current) => given ?? current ?? false,
  }),
  /** `true` if everyone can use the template. */
  isPublic: reset("Boolean", z.boolean(), false, { v2: property("public", FLAG) }),
  /** Description in Markdown. */
  readme: reset("String", z.string(), ""),
  /** `true` if pods start an SSH server. */
  startSsh: reset("Boolean", z.boolean(), false, { v2: property("startSsh", FLAG, true) }),
  /** `true` if pods start Jupyter. */
  startJupyter: reset("Boolean", z.boolean(), false, { v2: property("startJupyter", FLAG, true) }),
  /** The start script in RunPod's console. */
  startScript: reset<string | null>("String", z.string().nullable(), null),
  /** A setting of RunPod's console. */
  advancedStart: reset<boolean | null>("Boolean", z.boolean().nullable(), null),
  /** The mount path of the pod volume. Has no effect for endpoints. */
  volumeMountPath: reset<string | null>("String", z.string().nullable(), null),
  /** Presets of the hub. */
  config: reset<unknown>("JSON", z.unknown(), null),
  /** `CPU`, `GPU`, `NVIDIA` or `AMD`. REST v2 has no `GPU`. */
  category: reset<string | null>("TemplateCategory", z.enum(["CPU", "GPU", "NVIDIA", "AMD"]).nullable(), null, {
    output: "String",
    v2: {
      ...property<string | null>("category", { type: "string", enum: ["CPU", "NVIDIA", "AMD"] }, NEW_CATEGORY),
      show: (category) => ({ category: category ?? NEW_CATEGORY }),
    },
  }),
};

type Table = typeof TEMPLATE_FIELDS;

/** The fields of a template that clients can set, as the service stores them. */
export interface TemplateFields extends Stored<Table> {}

/** A template as the service stores it. */
export interface TemplateRecord extends TemplateFields {
  /** Identifier, assigned when the template was created. */
  readonly id: string;
  /** The id of the endpoint that the template was created for and belongs to, or `null`. */
  boundEndpointId: string | null;
  /**
   * When an endpoint, worker or pod last stopped using the template, in milliseconds since the
   * epoch.
   */
  lastUsedAt: number | null;
}

/** The `input` of `saveTemplate`. */
export interface TemplateInput extends RequiredInput<Table>, OptionalInput<Table> {
  /** The id of the template to change. Omit it to create a template. */
  readonly id?: string | null;
}

/** A template to create. */
export interface TemplateSeed extends TemplateInput {
  /** Id of the new template. @default random */
  readonly id?: string | null;
  /** The id of the endpoint that the template belongs to. @default none */
  readonly boundEndpointId?: string;
}

/** A template of a seed. */
export interface SeededTemplate extends Omit<TemplateSeed, "env"> {
  /** Environment variables, as a list or as a map. @default none */
  readonly env?: TemplateSeed["env"] | Readonly<Record<string, string>>;
}

const seedSchema = seedSchemaOf<TemplateSeed>({
  ...TEMPLATE_FIELDS,
  boundEndpointId: { schema: z.string().optional() },
});
/** The schema of a template to create. */
export const templateSeedSchema = seedSchema;
/** The schema of a change to a template. */
export const templatePatchSchema = patchSchemaOf(TEMPLATE_FIELDS);

/** The schema of a template in a data file. */
export const templateRecordSchema = z.looseObject({
  ...storedSchemasOf(TEMPLATE_FIELDS),
  id: z.string(),
  boundEndpointId: z.string().nullable(),
  lastUsedAt: z.number().nullable(),
});
