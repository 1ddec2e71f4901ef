import type { InputProblem } from "../../sdk/errors/errors";
import { InvalidInputError } from "../../sdk/errors/errors";
import { SECRET_CHECKS } from "../../sdk/secrets/input";
import { referenceTo, SECRET, SECRET_FIELDS, type SecretInput, type SecretRecord } from "../../sdk/secrets/secret";
import type { InputRule, Properties } from "../engine/properties";
import { SECONDS } from "../engine/properties";
import { whenUnused } from "../records/deletion";
import type { Circumstances, RecordKind, Situation } from "../records/recordKind";
import { sayWhoKeepsOldValue } from "./secretUsers";

/**
 * The fields of a secret. A program that uses `valueEnv` omits the value, which is then in neither
 * the inputs nor the outputs, not even as a hash.
 */
const TABLE = { ...SECRET_FIELDS, value: { ...SECRET_FIELDS.value, default: "" } } as typeof SECRET_FIELDS;

const VARIABLE_NAME: InputRule = {
  message: "must be the name of an environment variable",
  allows: (value) => typeof value === "string" && /^[A-Za-z_]\w*$/.test(value),
};

const VALUE_VERSION: InputRule = {
  message: "must be a whole number, 0 or more",
  allows: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};

/** The rules of a `Secret`. */
export const SECRET_KIND: RecordKind<SecretRecord, SecretInput> = {
  ...SECRET,
  table: TABLE,
  hiddenFields: ["value"],
  checkFields: SECRET_CHECKS.check,
  crossFieldProblems: valueProblems,
  problemsOfChange,
  staysUnset: (field) => field === "value",
  notices: (oldInputs, inputs) => (writesVariable(oldInputs, inputs) ? missingVariable(inputs) : []),
  records: ({ secrets }) => secrets,
  create: ({ client: { secrets } }, { name, description }, onNameTaken, inputs) =>
    secrets.create({ name, value: valueIn(inputs, name), description }, { onNameTaken }),
  async update({ client }, { id, fields, outputs, inputs, onSave }) {
    const { description } = fields;
    const changes = {
      ...("value" in fields && { value: valueIn(inputs, outputs.name ?? id) }),
      ...(description !== undefined && { description }),
    };
    if (Object.keys(changes).length === 0) return client.secrets.get(id);
    const secret = await client.secrets.update(id, changes, { onSave });
    if ("value" in changes) await sayWhoKeepsOldValue(client, secret.name);
    return secret;
  },
  alsoWrites,
  delete: whenUnused(SECRET, ({ secrets }) => secrets),
  ownRules: { valueEnv: VARIABLE_NAME, valueVersion: VALUE_VERSION, deleteTimeout: SECONDS },
  toFields: ({ name, description }, { value }) => ({ name, description, ...(value !== undefined && { value }) }),
  furtherOutputs,
  lastingOutputs: ["__valueWrittenAt"],
};

/**
 * Returns the problems with how the program gives the value: either directly, or as the name of the
 * environment variable that contains it.
 */
function valueProblems({ value, valueEnv, valueVersion }: Properties): InputProblem[] {
  if (value !== undefined && valueEnv !== undefined)
    return [{ property: "valueEnv", message: "cannot be combined with value: remove one of them" }];
  if (value === undefined && valueEnv === undefined)
    return [{ property: "value", message: "is required, or valueEnv with valueVersion" }];
  const [property, other] = valueEnv === undefined ? ["valueVersion", "valueEnv"] : ["valueEnv", "valueVersion"];
  const isAlone = (valueEnv === undefined) !== (valueVersion === undefined);
  return isAlone ? [{ property: property ?? "", message: `needs ${other}` }] : [];
}

function problemsOfChange({ name: before }: Properties, { name }: Properties): InputProblem[] {
  const isSame = typeof before === "string" && typeof name === "string" && before.toLowerCase() === name.toLowerCase();
  if (!isSame || before === name) return [];
  return [
    { property: "name", message: `differs from "${before}" only in case: the service treats both as the same name` },
  ];
}

/** Returns `true` if the value of the program's environment variable has to be written. */
function writesVariable(before: Properties, inputs: Properties): boolean {
  const { valueEnv, valueVersion } = inputs;
  return valueEnv !== undefined && (valueEnv !== before.valueEnv || valueVersion !== before.valueVersion);
}

function missingVariable({ valueEnv }: Properties): string[] {
  return process.env[String(valueEnv)]
    ? []
    : [`valueEnv: the environment variable ${valueEnv} is not set here. Set it for pulumi up, which writes its value`];
}

/**
 * Returns the value to write.
 * @throws InvalidInputError if the program's environment variable is not set
 */
function valueIn({ value, valueEnv }: Properties, name: unknown): string {
  if (valueEnv === undefined) return String(value);
  const [message] = missingVariable({ valueEnv });
  if (message === undefined) return String(process.env[String(valueEnv)]);
  throw new InvalidInputError(`secret "${name}"`, [
    { property: "valueEnv", message: `names ${valueEnv}, which is not set in the environment of this run` },
  ]);
}

/** Returns the reason for writing the value although no field of the inputs has changed. */
function reasonToWrite(outputs: Properties, inputs: Properties): string | undefined {
  if (writesVariable(outputs, inputs)) {
    const { valueEnv, valueVersion } = inputs;
    return `its value is written from the environment variable ${valueEnv} (valueVersion ${valueVersion})`;
  }
  const { valueLastUpdatedAt, __valueWrittenAt } = outputs;
  // An earlier time stands for the same write, read over an API that shows only writes of the
  // value.
  if (__valueWrittenAt === undefined || String(valueLastUpdatedAt) <= String(__valueWrittenAt)) return undefined;
  return `it was changed elsewhere at ${valueLastUpdatedAt}: the program's value is written again`;
}

function alsoWrites({ outputs, inputs }: Situation) {
  const text = reasonToWrite(outputs, inputs);
  return text === undefined ? undefined : { field: "value", text };
}

/**
 * Returns the outputs that are not fields. The version of the value is the time of its last write,
 * in seconds. It therefore grows with every write, and a secret that replaces another secret has a
 * new version.
 */
function furtherOutputs(secret: SecretRecord, { before, changed }: Circumstances): Properties {
  const { name, valueLastUpdatedAt, isTimeOfAnyChange } = secret;
  const isWritten = changed.includes("value") || before.__valueWrittenAt === undefined;
  // The service shows the program's own change of the description as a new time.
  const isOwnTime = isTimeOfAnyChange === true && changed.includes("description");
  const next = typeof before.version === "number" ? before.version + 1 : 0;
  const seconds = Math.floor((Date.parse(valueLastUpdatedAt) || 0) / 1000);
  return {
    reference: referenceTo(name),
    version: isWritten ? Math.max(seconds, next) : before.version,
    valueLastUpdatedAt,
    __valueWrittenAt: isWritten || isOwnTime ? valueLastUpdatedAt : before.__valueWrittenAt,
  };
}
