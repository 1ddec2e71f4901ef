import { isObject, type Properties, pick } from "../../../provider/engine/properties";
import { FIELDS } from "../../../sdk/endpoints/fields";
import {
  checkEndpointFields,
  crossFieldProblems,
  type EndpointInputOptions,
  missingFieldProblems,
} from "../../../sdk/endpoints/input";
import type { InputProblem } from "../../../sdk/errors/errors";
import { type FieldTable, listFields } from "../../../sdk/records/fields";
import { missingFields } from "../../../sdk/records/input";
import { REGISTRY_AUTH_FIELDS } from "../../../sdk/registryAuths/registryAuth";
import { REGISTRY_AUTH_CHECKS } from "../../../sdk/registryAuths/registryAuths";
import { SECRET_CHECKS } from "../../../sdk/secrets/input";
import { SECRET_FIELDS } from "../../../sdk/secrets/secret";
import { TEMPLATE_CHECKS } from "../../../sdk/templates/input";
import { TEMPLATE_FIELDS } from "../../../sdk/templates/template";
import { VOLUME_FIELDS } from "../../../sdk/volumes/volume";
import { VOLUME_CHECKS } from "../../../sdk/volumes/volumes";
import { isHarmlessVariable, mayHoldSecret } from "../secrets";
import { literal, oneLine } from "../source";
import { OLD_SECRET } from "./oldResource";
import type { Successor, SuccessorKind } from "./successors";

/** The arguments of a resource as the program declares them. */
interface ResourceDeclaration {
  /** Each argument and its source code. */
  readonly args: readonly (readonly [string, string])[];
  /** Comments on settings that the program does not manage, with the reasons. */
  readonly comments: readonly string[];
  /** Why the resource cannot be declared; `undefined` if it can. */
  readonly problem: string | undefined;
}

/**
 * Returns the source code that reads a secret from the config, and remembers the secret's name.
 * With `whole`, the config holds the object as JSON.
 */
export type ReadSecret = (successor: Successor, field: string, whole?: "object") => string;

interface Checked {
  readonly fields: Properties;
  readonly problems: readonly InputProblem[];
}

interface KindRules {
  readonly table: FieldTable;
  check(fields: Properties, words: EndpointInputOptions): Checked;
  missing(fields: Properties): readonly InputProblem[];
}

const tableRules = (table: FieldTable, check: (fields: Properties) => Checked): KindRules => ({
  table,
  check,
  missing: (fields) => missingFields(table, fields),
});

const RULES: Readonly<Record<SuccessorKind, KindRules>> = {
  ContainerRegistryAuth: tableRules(REGISTRY_AUTH_FIELDS, REGISTRY_AUTH_CHECKS.check),
  Secret: tableRules(SECRET_FIELDS, ({ value, ...others }) => {
    // Don't validate the placeholder: messages hide the value of a secret field anyway.
    const { fields, problems } = SECRET_CHECKS.check(others);
    return { fields: { ...fields, ...(value !== undefined && { value }) }, problems };
  }),
  NetworkVolume: tableRules(VOLUME_FIELDS, VOLUME_CHECKS.check),
  ServerlessTemplate: tableRules(TEMPLATE_FIELDS, TEMPLATE_CHECKS.check),
  ServerlessEndpoint: {
    table: FIELDS,
    check(given, words) {
      const { fields, problems } = checkEndpointFields(given, words);
      return { fields, problems: [...problems, ...crossFieldProblems(fields, false)] };
    },
    missing: missingFieldProblems,
  },
};

/** Returns the table with a kind's fields. */
export function tableOf(kind: SuccessorKind): FieldTable {
  return RULES[kind].table;
}

/** A placeholder that validation sees instead of a secret. It never appears in a message. */
const ANY = "secret";

/**
 * Returns the arguments that adopt a record without changing it: every setting of the old program,
 * with secrets read from the config.
 */
export function declare(
  successor: Successor,
  words: EndpointInputOptions,
  readSecret: ReadSecret,
): ResourceDeclaration {
  const { table, check, missing } = RULES[successor.kind];
  const { command, env, ...plain } = successor.fields;
  const isSecret = (field: string) => plain[field] === OLD_SECRET || mayHoldSecret(field, plain[field]);
  const shown = Object.fromEntries(
    Object.entries(plain).map(([field, value]) => [field, isSecret(field) ? ANY : value]),
  );
  const { fields, problems } = check(shown, words);
  const refused = new Set(problems.map(({ property }) => property));
  const valid = pick(fields, (field) => !refused.has(field));
  const args = Object.entries(valid).map(
    ([field, value]) =>
      [field, isSecret(field) ? readSecret(successor, field) : fieldSource(table, field, value)] as const,
  );
  // An adopted record keeps its name, so the name may be missing.
  const absent = missing(valid).filter(({ property }) => property !== "name" && !refused.has(property));
  const fatal = [
    ...absent,
    ...problems.filter(({ property }) => missing(valid).some((each) => each.property === property)),
  ];
  const variables =
    env === OLD_SECRET
      ? [["env", readSecret(successor, "env", "object")] as const]
      : isObject(env)
        ? [["env", envSource(successor, env, readSecret)] as const]
        : [];
  const start = isObject(command) ? [commandSource(successor, command, readSecret)] : [];
  return {
    args: [...args, ...start, ...variables],
    comments: problems.map((problem) => `not managed: ${oneLine(told([problem]))}`),
    problem: fatal.length === 0 ? undefined : oneLine(told(fatal)),
  };
}

function told(problems: readonly InputProblem[]): string {
  return problems.map(({ property, message }) => `${property} ${message}`).join("; ");
}

function fieldSource(table: FieldTable, field: string, value: unknown): string {
  const isList = listFields(table).includes(field) && typeof value === "string" && value.includes(",");
  return isList ? `[${value.split(",").map(literal).join(", ")}]` : literal(value);
}

function envSource(successor: Successor, env: Properties, readSecret: ReadSecret): string {
  const lines = Object.entries(env).map(([name, value]) => {
    const text = ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
    const isPlain = text !== undefined && isHarmlessVariable(name, text);
    return `    ${literal(name)}: ${isPlain ? literal(text) : readSecret(successor, name)},\n`;
  });
  return `{\n${lines.join("")}  }`;
}

/**
 * Returns the source code of a start command. If any word may be secret, the config holds the whole
 * command.
 */
function commandSource(successor: Successor, command: Properties, readSecret: ReadSecret): readonly [string, string] {
  const words = Object.values(command).flatMap((part) => (Array.isArray(part) ? part : [part]));
  const isPlain = words.every((word) => typeof word === "string") && !mayHoldSecret("dockerArgs", words.join(" "));
  return isPlain ? ["command", literal(command)] : ["dockerArgs", readSecret(successor, "dockerArgs")];
}
