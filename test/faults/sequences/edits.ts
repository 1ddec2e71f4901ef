import type { Action, Counts, Image } from "./actions";
import { type Declared, imageNamed, type Program, type ProviderName, ROLL_OUT } from "./program";

/** The relevant part of the world for an edit. */
export interface Surroundings {
  /** The endpoint's id, or undefined if there is none. */
  idOf(reference: string): string | undefined;
  /** The provider that reaches the endpoint from this program. */
  providerFor(id: string): ProviderName | undefined;
}

const COUNTS: Readonly<Record<Counts, Pick<Declared["args"], "workersMin" | "workersMax">>> = {
  max: { workersMax: 1 },
  min: { workersMin: 1 },
  both: { workersMin: 1, workersMax: 1 },
  none: {},
};

/**
 * The program after a user's edit; undefined if there is nothing to edit, as happens while a
 * sequence is shrunk.
 */
export function edited(program: Program, action: Action, surroundings: Surroundings): Program | undefined {
  switch (action.do) {
    case "declare":
      return declared(program, action.name, {
        args: {
          ...COUNTS[action.counts ?? "max"],
          ...(action.as && { name: action.as }),
          ...(action.drainTimeout && { drainTimeout: action.drainTimeout }),
          ...containerOf(action),
        },
        ...(action.provider && { provider: action.provider }),
      });
    case "rename":
      return renamed(program, action);
    case "adopt":
      return adopting(program, action, surroundings);
    case "dropAliases":
      return changed(program, action.name, ({ aliases, ...rest }) => aliases && rest);
    case "dropAdoptId":
      return changed(program, action.name, ({ args: { adoptId, ...args }, ...rest }) => adoptId && { ...rest, args });
    case "takeOut":
      return changed(program, action.name, () => null);
    case "change": {
      const { field, value } = action;
      return changed(program, action.name, (one) => ({ ...one, args: { ...one.args, [field]: value } }));
    }
    case "provider":
      return changed(program, action.name, ({ provider = null, ...rest }) =>
        provider === action.to ? undefined : { ...rest, ...(action.to && { provider: action.to }) },
      );
    case "typo":
      return changed(program, action.name, (one) => ({ ...one, args: { ...one.args, workersMax: -1 } }));
    case "image":
      return changed(program, action.name, ({ args: { rollOut, ...args }, ...rest }) => ({
        ...rest,
        args: { ...args, ...containerOf(action) },
      }));
    case "replace":
      return changed(program, action.name, (one) => one);
    case "createsFirst":
      return { ...program, createsFirst: action.value };
    default:
      return program;
  }
}

/** The arguments of an endpoint with an image of its own. */
function containerOf({ image, isTested }: { readonly image?: Image; readonly isTested?: boolean }): Declared["args"] {
  if (image === undefined) return {};
  return { imageName: imageNamed(image), ...(isTested && { rollOut: ROLL_OUT }) };
}

function declared(program: Program, name: string, rest: Omit<Declared, "name">): Program | undefined {
  if (find(program, name)) return undefined;
  return { ...program, resources: [...program.resources, { name, ...rest }] };
}

export const find = ({ resources }: Program, name: string) => resources.find((one) => one.name === name);

/** Changes one resource. `null` removes it, and `undefined` is no edit. */
export function changed(
  program: Program,
  name: string,
  change: (one: Declared) => Declared | null | undefined | "",
): Program | undefined {
  const one = find(program, name);
  const next = one && change(one);
  if (next === undefined || next === "") return undefined;
  return {
    ...program,
    resources: program.resources.flatMap((each) => (each !== one ? [each] : next === null ? [] : [next])),
  };
}

function renamed(program: Program, { name, to, alias }: Action & { do: "rename" }): Program | undefined {
  if (find(program, to)) return undefined;
  return changed(program, name, ({ aliases = [], ...rest }) => ({
    ...rest,
    name: to,
    ...(alias && { aliases: [...aliases.filter((each) => each !== to), name] }),
  }));
}

function adopting(program: Program, action: Action & { do: "adopt" }, surroundings: Surroundings) {
  const { name, of, workersMax } = action;
  const adoptId = surroundings.idOf(of);
  if (adoptId === undefined) return undefined;
  const provider = surroundings.providerFor(adoptId);
  const one = find(program, name);
  const args = { ...containerOf(action), ...(workersMax !== undefined && { workersMax }) };
  if (!one) return declared(program, name, { args: { ...args, adoptId }, ...(provider && { provider }) });
  // Owners under different providers are in different processes, which the documents advise
  // against.
  if (one.provider !== provider) return undefined;
  return changed(program, name, (each) => ({ ...each, args: { ...each.args, adoptId } }));
}
