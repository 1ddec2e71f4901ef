import { NameTakenError } from "../../sdk/errors";

/** Returns the update option that refuses a change to another record's name, as a create does. */
export function refuseRename(
  noun: string,
  id: string,
  name: unknown,
): { readonly onNameTaken: (others: readonly { readonly id: string }[]) => never } {
  return {
    onNameTaken(others) {
      const ids = others.map((each) => each.id);
      throw new NameTakenError(
        `${noun} ${id} cannot be renamed to "${name}": ${ids.join(", ")} has that name, and two ${noun}s with one ` +
          `name are easily confused. Nothing was changed. Choose another name. If this run renames or deletes the other ` +
          `${noun}, run pulumi up again`,
        ids,
      );
    },
  };
}
