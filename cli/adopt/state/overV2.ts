import { isPresentAt } from "../../../sdk/records/fields";
import { tableOf } from "./declare";
import type { LeftOut, Successor } from "./successors";

/** The settings of a template that REST v2 shows with each endpoint. */
const CONTAINER = ["imageName", "containerDiskInGb", "dockerArgs", "command", "ports", "containerRegistryAuthId"];

const NO_CREDENTIAL =
  "REST v2 can neither show nor change the user and the password of a registry credential, so it cannot be adopted over " +
  "REST v2. It stays as it is, and the program names its id";

/**
 * Returns the successors as a program for REST v2 adopts them. REST v2 does not show the template
 * of an endpoint, so applying a templateId would replace the workers of an endpoint that has it
 * already. The program declares the container of the template instead, without its variables.
 */
export function overV2(all: readonly Successor[]): {
  readonly successors: readonly Successor[];
  readonly leftOut: readonly LeftOut[];
} {
  const leftOut: LeftOut[] = [];
  const successors = all.map(withoutHidden).flatMap((successor) => {
    const { kind, old, fields, lost } = successor;
    const { templateId, ...others } = fields;
    if (kind === "ContainerRegistryAuth") {
      leftOut.push({ old, reason: NO_CREDENTIAL });
      return [];
    }
    if (kind !== "ServerlessEndpoint" || templateId === undefined) return [successor];
    const template = all.find((each) => each.kind === "ServerlessTemplate" && each.id === templateId);
    if (!template) {
      leftOut.push({ old, reason: withoutTemplate(String(templateId)) });
      return [];
    }
    const container = Object.entries(template.fields).filter(([field]) => CONTAINER.includes(field));
    const isKept = "env" in template.fields || template.lost.includes("env");
    return [
      { ...successor, fields: { ...others, ...Object.fromEntries(container) }, lost: isKept ? [...lost, "env"] : lost },
    ];
  });
  return { successors, leftOut };
}

/** Returns a successor without the fields that records do not have over REST v2. */
function withoutHidden(successor: Successor): Successor {
  const table = tableOf(successor.kind);
  const isHidden = ([field]: [string, unknown]) => {
    const row = Object.hasOwn(table, field) ? table[field] : undefined;
    return row !== undefined && !isPresentAt(row, { api: "v2" });
  };
  const entries = Object.entries(successor.fields);
  const lost = [...successor.lost, ...entries.filter(isHidden).map(([field]) => field)];
  return { ...successor, fields: Object.fromEntries(entries.filter((entry) => !isHidden(entry))), lost };
}

function withoutTemplate(id: string): string {
  return (
    `REST v2 does not show its template, and the state does not have the template ${id}, whose container the program ` +
    'would declare. Write it with "adopt --filter <name>", which reads the service'
  );
}
