import { isPresentAt } from "../../../sdk/records/fields";
import { tableOf } from "./declare";
import type { LeftOut, Successor } from "./successors";

/** The template settings that REST v2 shows on each endpoint. */
const CONTAINER = ["imageName", "containerDiskInGb", "dockerArgs", "command", "ports", "containerRegistryAuthId"];

const NO_CREDENTIAL =
  "REST v2 can neither show nor change the user and the password of a registry credential, so it cannot be adopted over " +
  "REST v2. It stays as it is, and the program names its id";

/**
 * Prepares the resources for a program that uses REST v2. REST v2 does not show an endpoint's
 * template, so applying a `templateId` would replace the workers even if nothing changes. The
 * program declares the template's container instead, without its variables.
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

/** Removes the fields that REST v2 does not show. */
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
    `its container is in the template ${id}, which REST v2 does not show for an endpoint, and which the state does not ` +
    'have. Write it with "adopt --filter <name>", which reads the service'
  );
}
