import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Emulator } from "../../emulator";
import type { Properties } from "../support/dynamicProvider";
import { destroy, type Remembered, refresh, StepFailed, up } from "./engineMemory";
import { type Operation, type Step, unless } from "./operations";
import type { Site } from "./site";

const handlersOf = (name: string) => `exports.handler = () => require("pulumi-serverless-gpu/handlers").${name};`;

/** A kind of record: a program, a change of it, and the requests that they make. */
interface Kind {
  readonly noun: string;
  readonly program: Properties;
  readonly change: Properties;
  readonly create: string;
  readonly update: string;
  readonly delete: string;
  readonly list: (emulator: Emulator) => readonly object[];
  /** The fields of the record at the service after the change, as far as the service shows them. */
  readonly after: Properties;
  readonly neighbour: (emulator: Emulator) => void;
}

const KINDS: readonly Kind[] = [
  {
    noun: "template",
    program: {
      __provider: handlersOf("templateV1"),
      automaticName: "llama",
      imageName: "app:1",
      env: { TOKEN: "env-canary-11", MODE: "fast" },
    },
    change: { imageName: "app:2", env: { TOKEN: "env-canary-11" } },
    create: "saveTemplate",
    update: "saveTemplate",
    delete: "deleteTemplate",
    list: ({ templates }) => templates.list(),
    after: { imageName: "app:2", containerDiskInGb: 20, env: [{ key: "TOKEN", value: "env-canary-11" }] },
    neighbour: ({ templates }) => templates.create({ name: "neighbour", imageName: "theirs:1", isServerless: true }),
  },
  {
    noun: "volume",
    program: {
      __provider: handlersOf("networkVolumeV1"),
      automaticName: "models-1234567",
      size: 50,
      dataCenterId: "EU-RO-1",
    },
    change: { size: 80 },
    create: "createNetworkVolume",
    update: "updateNetworkVolume",
    delete: "deleteNetworkVolume",
    list: ({ volumes }) => volumes.list(),
    after: { size: 80, dataCenterId: "EU-RO-1" },
    neighbour: ({ volumes }) => volumes.create({ name: "neighbour", size: 10, dataCenterId: "EU-RO-1" }),
  },
  {
    noun: "credential",
    program: {
      __provider: handlersOf("registryAuthV1"),
      automaticName: "ghcr",
      username: "me",
      password: "password-canary-22",
    },
    change: { password: "password-canary-33" },
    create: "saveRegistryAuth",
    update: "updateRegistryAuth",
    delete: "deleteRegistryAuth",
    list: ({ registryAuths }) => registryAuths.list(),
    after: {},
    neighbour: ({ registryAuths }) =>
      registryAuths.create({ name: "neighbour", username: "u", password: "p-neighbour" }),
  },
];

type Requests = readonly (readonly [name: string, request: string])[];

const steps = (...requests: Requests): Step[] =>
  requests.map(([name, strikes], index) => ({ name, interface: "graphql", position: index + 1, strikes }));

/** Steps that are found by their requests: those of a create are sent at the same time. */
const named = (...requests: Requests): Step[] =>
  requests.map(([name, strikes]) => ({ name, interface: "graphql", operation: strikes, strikes }));

/**
 * Waits until no list of an earlier cell is new enough to be shared, because the fault must hit one
 * of this cell's requests.
 */
const outliveLists = () => new Promise((resolve) => setTimeout(resolve, 2_100));

/** Remembers the same as the engine, whether a step succeeds or fails. */
function resource({ emulator, provider }: Site, kind: Kind) {
  kind.neighbour(emulator);
  const neighbours = kind.list(emulator);
  let remembered: Remembered | undefined;
  const keep = async (step: Promise<Remembered | undefined>) => {
    try {
      remembered = await step;
    } catch (error) {
      if (error instanceof StepFailed) remembered = error.remembered;
      throw error;
    }
  };
  const own = () => kind.list(emulator).filter((each) => !neighbours.some((one) => isDeepStrictEqual(one, each)));
  return {
    own,
    remembered: () => remembered,
    up: (program: Properties) => keep(up(provider, program, remembered)),
    destroy: async () => remembered && keep(destroy(provider, remembered)),
    refresh: async () => remembered && keep(refresh(provider, remembered)),
    neighbourProblems: () => {
      const left = kind.list(emulator).length - own().length;
      return unless(left === neighbours.length, "the neighbour changed");
    },
  };
}

const count = (kind: Kind, expected: string, isRight: boolean, actual: number) =>
  unless(isRight, `${actual} ${kind.noun}s at the service, not ${expected}`);

/** Returns the arguments that the error of an existing name suggests. Rethrows any other error. */
function advised(error: Error): Properties {
  const adoptId = /set adoptId to "([^"]+)"/.exec(error.message)?.[1];
  if (adoptId === undefined) throw error;
  return { adoptId };
}

function operationsOf(kind: Kind): Operation[] {
  const { noun, program, change } = kind;
  const changed = { ...program, ...change };
  const fieldProblems = (record: object | undefined) =>
    Object.entries(kind.after).flatMap(([field, value]) =>
      unless(
        JSON.stringify((record as Properties | undefined)?.[field]) === JSON.stringify(value),
        `${field} is not as in the program`,
      ),
    );
  return [
    {
      name: `${noun} create`,
      steps: named(["list", "myself"], ["save", kind.create]),
      async prepare(site) {
        const one = resource(site, kind);
        await outliveLists();
        // A list that is behind may still show the record of an earlier cell.
        const fresh = { ...program, automaticName: `${noun}-${randomBytes(4).toString("hex")}` };
        return {
          run: () => one.up(fresh),
          // A create that could not be confirmed says so, and leaves at most one record.
          problems: () => count(kind, "0 or 1", one.own().length <= 1, one.own().length),
          recover: () => one.up(fresh).catch((error) => one.up({ ...fresh, ...advised(error) })),
          problemsAtLast: () => {
            // An automatic name with new digits cannot find the record that an earlier run left.
            // That record is reported, and costs nothing.
            const most = kind.noun === "volume" ? 1 : 2;
            return [
              ...count(kind, `1 to ${most}`, one.own().length >= 1 && one.own().length <= most, one.own().length),
              ...one.neighbourProblems(),
            ];
          },
        };
      },
    },
    {
      name: `${noun} update`,
      steps: steps(["list", "myself"], ["save", kind.update]),
      async prepare(site) {
        const one = resource(site, kind);
        await one.up(program);
        return {
          run: () => one.up(changed),
          problems: () => count(kind, "1", one.own().length === 1, one.own().length),
          recover: () => one.up(changed),
          problemsAtLast: () => [
            ...count(kind, "1", one.own().length === 1, one.own().length),
            ...fieldProblems(one.own()[0]),
            ...one.neighbourProblems(),
          ],
        };
      },
    },
    {
      name: `${noun} read`,
      steps: steps(["list", "myself"]),
      async prepare(site) {
        const one = resource(site, kind);
        await one.up(program);
        return {
          run: async () => {
            await one.refresh();
          },
          problems: () => unless(one.remembered() !== undefined, `the ${noun} is gone from state`),
          recover: async () => {
            await one.refresh();
          },
          problemsAtLast: () => [
            ...unless(one.remembered() !== undefined, `the ${noun} is gone from state`),
            ...count(kind, "1", one.own().length === 1, one.own().length),
          ],
        };
      },
    },
    {
      name: `${noun} delete`,
      steps: [
        ...steps(["list", "myself"], ["list of users", "myself"], ["delete", kind.delete], ["list proof", "myself"]),
      ],
      async prepare(site) {
        const one = resource(site, kind);
        await one.up(program);
        await outliveLists();
        return {
          run: async () => {
            await one.destroy();
          },
          problems: () =>
            unless(one.remembered() !== undefined || one.own().length === 0, `the ${noun} exists and is not in state`),
          recover: async () => {
            await one.destroy();
          },
          problemsAtLast: () => [
            ...count(kind, "0", one.own().length === 0, one.own().length),
            ...one.neighbourProblems(),
          ],
        };
      },
    },
  ];
}

/** The operations on templates, network volumes and registry credentials. */
export const RECORD_OPERATIONS: readonly Operation[] = KINDS.flatMap(operationsOf);
