import { z } from "zod";
import {
  type Field,
  fieldsAfter,
  type OptionalInput,
  patchSchemaOf,
  type RequiredInput,
  requiredString,
  type Stored,
  seedSchemaOf,
  storedSchemasOf,
} from "../model/fieldTable";
import { EXAMPLE_IMAGE } from "../workers/container";

/** An environment variable of a template. */
export interface EnvironmentVariable {
  /** Name of the variable. */
  readonly key: string;
  /** Value of the variable. */
  readonly value: string;
}

/** A port of a template with its name in the web console. */
export interface PortConfig {
  /** The port. */
  readonly port: string;
  /** Its name. */
  readonly name: string;
}

/** A field of a template. */
interface TemplateField<Value, Given> extends Field<Value, Given> {
  /** `true` if a change reaches the workers: it is a new release of every endpoint with the template. @default false */
  readonly rollsOut?: boolean;
}

type Optional<Value> = TemplateField<Value, Value | null | undefined>;

/** A field that GraphQL requires. A seed may leave it out. */
function required<Value>(
  type: string,
  schema: z.ZodType<Value>,
  value: Value,
): TemplateField<Value, Value | undefined> {
  return {
    output: type.replaceAll("Input", "").replace(/!$/, ""),
    input: type,
    schema: schema.optional(),
    stored: schema,
    store: (given) => given ?? value,
  };
}

/** A field that a save without it resets (assumed: the reading that shows which field a client forgets). */
function reset<Value>(type: string, schema: z.ZodType<Value>, value: Value): Optional<Value> {
  const store: Optional<Value>["store"] = (given) => given ?? value;
  return { output: type.replace("Input", ""), input: type, schema: schema.nullish(), stored: schema, store };
}

const rollsOut = <F extends object>(field: F) => ({ ...field, rollsOut: true });

const variables = z.array(z.strictObject({ key: z.string().min(1), value: z.string() }));
const portsConfig = z.array(z.strictObject({ port: z.string(), name: z.string() }));

/** All fields that clients can set. The types, the GraphQL schema, the seeds and `saveTemplate` follow this table. */
export const TEMPLATE_FIELDS = {
  /** Name, unique among all templates. */
  name: requiredString("String"),
  /** Image with its tag. */
  imageName: rollsOut(reset("String", z.string(), "")),
  /** Start command: a command line, JSON with `cmd` and `entrypoint`, or `""` for that of the image. */
  dockerArgs: rollsOut(required("String!", z.string(), "")),
  /** Size of the container disk in GB, whole. */
  containerDiskInGb: rollsOut(required("Int!", z.int(), 20)),
  /** Size of the pod volume in GB, whole; 0 for serverless templates. */
  volumeInGb: required("Int!", z.int(), 0),
  /** Environment variables, as they were sent. */
  env: rollsOut(required<readonly EnvironmentVariable[]>("[EnvironmentVariableInput]!", variables, [])),
  /** Exposed ports as a comma list, each `<port>/http` or `<port>/tcp`. */
  ports: rollsOut(reset("String", z.string(), "")),
  /** Names of ports in the web console. */
  portsConfig: reset<readonly PortConfig[]>("[PortConfigInput]", portsConfig, []),
  /** Id of the registry credential that pulls the image; `""` and `null` for none. */
  containerRegistryAuthId: rollsOut({
    ...reset<string | null>("String", z.string().nullable(), null),
    store: (given) => given || null,
  } as Optional<string | null>),
  /** `true` for a template of endpoints, `false` for one of pods. */
  isServerless: reset("Boolean", z.boolean(), false),
  /** `true` if everyone can use it. */
  isPublic: reset("Boolean", z.boolean(), false),
  /** Description in Markdown. */
  readme: reset("String", z.string(), ""),
  /** `true` if pods start an SSH server. */
  startSsh: reset("Boolean", z.boolean(), false),
  /** `true` if pods start Jupyter. */
  startJupyter: reset("Boolean", z.boolean(), false),
  /** Start script of the web console. */
  startScript: reset<string | null>("String", z.string().nullable(), null),
  /** Setting of the web console. */
  advancedStart: reset<boolean | null>("Boolean", z.boolean().nullable(), null),
  /** Mount path of the pod volume; without effect for endpoints. */
  volumeMountPath: reset<string | null>("String", z.string().nullable(), null),
  /** Presets of the vendor's hub. */
  config: reset<unknown>("JSON", z.unknown(), null),
  /** `CPU`, `GPU`, `NVIDIA` or `AMD`. */
  category: {
    ...reset<string | null>("TemplateCategory", z.enum(["CPU", "GPU", "NVIDIA", "AMD"]).nullable(), null),
    output: "String",
  } as Optional<string | null>,
};

type Table = typeof TEMPLATE_FIELDS;

/** The fields of a template that clients can set, as the service stores them. */
export interface TemplateFields extends Stored<Table> {}

/** A template as the service stores it. */
export interface TemplateRecord extends TemplateFields {
  /** Identifier, assigned when the template was created. */
  readonly id: string;
  /** Id of the endpoint that the template was made for and belongs to, or `null`. */
  boundEndpointId: string | null;
  /** The last time when an endpoint, a worker or a pod stopped using it, in milliseconds since the epoch. */
  lastUsedAt: number | null;
}

/** The `input` of `saveTemplate`. */
export interface TemplateInput extends RequiredInput<Table>, OptionalInput<Table> {
  /** Identifier of the template to change. Without it, a template is created. */
  readonly id?: string | null;
}

/** A template to create. */
export interface TemplateSeed extends TemplateInput {
  /** Id of the new template. @default random */
  readonly id?: string | null;
  /** Id of the endpoint that the template belongs to. @default none */
  readonly boundEndpointId?: string;
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

/** Returns a template of which only the id is known. */
export function exampleTemplate(id: string): TemplateRecord {
  const input = { name: id, imageName: EXAMPLE_IMAGE, isServerless: true };
  const fields = fieldsAfter(TEMPLATE_FIELDS, undefined, input, "contract");
  return { ...fields, id, boundEndpointId: null, lastUsedAt: null };
}

const names = Object.keys(TEMPLATE_FIELDS) as (keyof TemplateFields)[];
const rolling = names.filter((name) => "rollsOut" in TEMPLATE_FIELDS[name]);

/** Returns `true` if the change of a template reaches the workers. */
export function reachesWorkers(before: TemplateFields, after: TemplateFields): boolean {
  return rolling.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
