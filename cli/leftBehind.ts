import { classOf, nameIn, type StackResource } from "./stack";

/** A billed record that stays at the service, in no state, when its `deletedWith` is deleted. */
export interface LeftBehind {
  readonly kind: "endpoint" | "network volume";
  readonly id: string;
  /** The logical names of its resource and of the resource that `deletedWith` refers to. */
  readonly name: string;
  readonly deletedWith: string;
}

const NOUNS: Readonly<Record<string, LeftBehind["kind"]>> = {
  ServerlessEndpoint: "endpoint",
  NetworkVolume: "network volume",
};

/**
 * Returns the endpoints and volumes in a state that have the option `deletedWith`. The engine does
 * not call the provider for them, because it takes them for parts of the other resource.
 */
export function leftBehind(resources: readonly StackResource[]): LeftBehind[] {
  return resources.flatMap(({ urn, type, id, deletedWith }) => {
    const kind = NOUNS[classOf(type) ?? ""];
    if (kind === undefined || id === undefined || !deletedWith) return [];
    return [{ kind, id, name: nameIn(urn), deletedWith: nameIn(deletedWith) }];
  });
}

/** Says what happens to such a record. */
export function leftBehindText({ kind, id, name, deletedWith }: LeftBehind): string {
  return (
    `${kind} ${id} ("${name}") has deletedWith "${deletedWith}": a run that deletes "${deletedWith}", such as pulumi destroy, only ` +
    `removes "${name}" from state. It stays at the service, and you may still be charged for it`
  );
}

/** How to let `pulumi` delete such records. */
export const HOW_TO_DELETE = "Remove deletedWith from the program, and run pulumi up.";
