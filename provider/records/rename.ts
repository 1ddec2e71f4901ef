import { NameTakenError } from "../../sdk/errors/errors";

/**
 * Returns the update option that prevents renaming a record to a name that another record already
 * has. A create does the same.
 */
export function refuseRename(
  noun: string,
  id: string,
  name: unknown,
): { readonly onNameTaken: (others: readonly { readonly id: string }[]) => never } {
  return {
    onNameTaken(others) {
      const ids = others.map((each) => each.id);
      throw new NameTakenError(
        [
          `${noun} ${id} cannot be renamed to "${name}": ${ids.join(", ")} has that name, and two ${noun}s with one name are ` +
            "easily confused. Nothing was changed. Choose another name.",
          `If this run deletes the other ${noun} or gives it a free name, run pulumi up again.`,
          `To swap two names, run pulumi up three times: rename one ${noun} to a third name, then the other to the name that ` +
            "this frees, then the first to the name that this frees",
        ].join("\n"),
        ids,
      );
    },
  };
}
