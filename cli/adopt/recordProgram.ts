import { defaultsOf, type FieldTable } from "../../sdk/records/fields";
import { TEMPLATE_CHECKS } from "../../sdk/templates/input";
import { TEMPLATE_FIELDS, type Template } from "../../sdk/templates/template";
import { VOLUME_FIELDS, type Volume } from "../../sdk/volumes/volume";
import { VOLUME_CHECKS } from "../../sdk/volumes/volumes";
import { withoutSecretTexts } from "./secrets";
import { literal, oneLine, uniqueNames } from "./source";

/** The part of a program that adopts templates and volumes, and the records that it leaves out. */
export interface RecordProgram {
  /** TypeScript code, one entry for each resource, without the import. */
  readonly resources: readonly string[];
  /** The classes of these resources. */
  readonly classes: readonly string[];
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

/**
 * Returns the part of a program that adopts the account's serverless templates and network volumes
 * without changing them. It does not declare a template's variables, because their values may be
 * secret. The variables stay unchanged.
 */
export function recordProgram(templates: readonly Template[], volumes: readonly Volume[]): RecordProgram {
  const skipped: { id: string; reason: string }[] = [];
  const adoptable = templates.filter((template) => {
    const reason = reasonToSkip(template);
    if (reason !== undefined) skipped.push({ id: template.id, reason });
    return reason === undefined;
  });
  const templateName = uniqueNames("template");
  const volumeName = uniqueNames("volume");
  const resources = [
    ...adoptable.map(({ env, ...template }) => {
      const names = Object.keys(env).sort().join(", ");
      const comment =
        names === ""
          ? ""
          : `  // not managed: env (${oneLine(names)}). To manage these variables, add them with config secrets\n`;
      const { shown, comments } = withoutSecretTexts(declared(TEMPLATE_FIELDS, template, TEMPLATE_CHECKS.check));
      const texts = comments.map((each) => `  // ${each}\n`).join("");
      return `new ServerlessTemplate(${literal(templateName(template.name))}, {\n${lines(template.id, shown)}${texts}${comment}});\n`;
    }),
    ...volumes.map((volume) => {
      const fields = declared(VOLUME_FIELDS, volume, VOLUME_CHECKS.check);
      const name = literal(volumeName(volume.name));
      return `new NetworkVolume(${name}, {\n${lines(volume.id, fields)}}, { protect: true });\n`;
    }),
  ];
  const classes = [volumes.length > 0 ? "NetworkVolume" : [], adoptable.length > 0 ? "ServerlessTemplate" : []].flat();
  return { resources, classes, skipped };
}

function reasonToSkip({ name, isServerless, isPublic }: Template): string | undefined {
  if (!isServerless) return "it is a pod template";
  if (isPublic) return "it is public";
  return /__template__\w+$/.test(name) ? "it belongs to an endpoint" : undefined;
}

/** Returns the valid fields that differ from their defaults. */
function declared(
  table: FieldTable,
  record: object,
  check: (input: Readonly<Record<string, unknown>>) => { fields: Record<string, unknown> },
): [string, unknown][] {
  const defaults = defaultsOf(table);
  const given = Object.entries(record).filter(([field]) => Object.hasOwn(table, field));
  const { fields } = check(Object.fromEntries(given));
  return Object.entries(fields).filter(([field, value]) => value !== defaults[field]);
}

function lines(id: string, fields: readonly (readonly [string, unknown])[]): string {
  return [["adoptId", id] as const, ...fields].map(([field, value]) => `  ${field}: ${literal(value)},\n`).join("");
}
