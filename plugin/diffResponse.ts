import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import type { Difference, PropertyChange } from "./resources/diff";

const { Kind } = PropertyDiff;

const KINDS = {
  add: [Kind.ADD, Kind.ADD_REPLACE],
  delete: [Kind.DELETE, Kind.DELETE_REPLACE],
  update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
} as const satisfies Record<PropertyChange["kind"], readonly [change: number, replacement: number]>;

/** Returns a diff in the engine's format, listing each changed input property. */
export function diffResponse({ isChanged, changes, replaces, deleteBeforeReplace }: Difference): DiffResponse {
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  const response = new DiffResponse();
  response.setChanges(isChanged ? DIFF_SOME : DIFF_NONE);
  response.setReplacesList([...replaces]);
  response.setDeletebeforereplace(deleteBeforeReplace);
  if (!isChanged) return response;
  response.setHasdetaileddiff(true);
  response.setDiffsList([...new Set(changes.map(({ path }) => path.split(/[.[]/, 1)[0] ?? path))]);
  for (const { path, kind, isReplacement } of changes) {
    const property = new PropertyDiff();
    property.setKind(KINDS[kind][isReplacement ? 1 : 0]);
    property.setInputdiff(true);
    response.getDetaileddiffMap().set(path, property);
  }
  return response;
}
