import { isDeepStrictEqual } from "node:util";
import type { EmulatedEndpoint } from "../../emulator";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";
import { destroy, type Remembered, refresh, StepFailed, up } from "./engineMemory";
import { type Operation, type Step, unless } from "./operations";
import type { Site } from "./site";

const PROGRAM: Properties = {
  automaticName: "llama-1a2b3c4",
  gpuIds: "AMPERE_24",
  templateId: "template",
  workersMax: 2,
};

/** Fields that no program sets. They must not change. */
const UNMANAGED = { idleTimeout: 77, scalerValue: 9, networkVolumeId: "volume-1" };

/** The outputs that differ after a change of those fields. A refresh that sees it draws a stamp. */
const EDITED = [...Object.keys(UNMANAGED), "networkVolumeIds", "__stamp"];

const NEIGHBOUR = { name: "neighbour", gpuIds: "ADA_24", templateId: "theirs", workersMax: 5, idleTimeout: 55 };

const REQUESTS = { list: "myself", save: "saveEndpoint", delete: "deleteEndpoint" };

/** Steps whose first word names their request. */
const graphql = (...names: string[]): Step[] =>
  names.map((name, index) => ({
    name,
    interface: "graphql",
    position: index + 1,
    strikes: REQUESTS[name.split(" ")[0] as keyof typeof REQUESTS],
  }));

/** Remembers the same as the engine, whether a step succeeds or fails. */
function resource({ emulator, provider }: Site) {
  const neighbour = emulator.endpoints.create(NEIGHBOUR);
  let remembered: Remembered | undefined;
  const keep = async (step: Promise<Remembered | undefined>) => {
    try {
      remembered = await step;
    } catch (error) {
      if (error instanceof StepFailed) remembered = error.remembered;
      throw error;
    }
  };
  /**
   * The engine's next run uses a new process, which has no list yet, as if there had been a write.
   */
  const forgetLists = () => provider.delete("nobody", {});
  return {
    forgetLists,
    remembered: () => remembered,
    up: (program: Properties, by = provider) => keep(up(by, program, remembered)),
    refresh: async () => remembered && keep(refresh(provider, remembered)),
    destroy: async () => remembered && keep(destroy(provider, remembered)),
    own: () => emulator.endpoints.list().filter(({ id }) => id !== neighbour.id),
    neighbourProblems: () =>
      unless(
        isDeepStrictEqual(settingsOf(emulator.endpoints.get(neighbour.id)), settingsOf(neighbour)),
        "neighbour changed",
      ),
    /**
     * Returns how the engine's record differs from the service.
     * @param edited the outputs that someone else has changed, which state shows only after a
     * refresh
     */
    async disagreements(edited: readonly string[] = []): Promise<string[]> {
      if (!remembered) return ["the engine remembers nothing"];
      await forgetLists();
      const seen = await refresh(provider, remembered);
      if (!seen) return ["the service does not have what the engine remembers"];
      return Object.keys({ ...seen.outputs, ...remembered.outputs })
        .filter((key) => !edited.includes(key) && !isDeepStrictEqual(seen.outputs[key], remembered?.outputs[key]))
        .map((key) => `${key} is ${seen.outputs[key]} at the service, ${remembered?.outputs[key]} in state`);
    },
  };
}

function settingsOf(endpoint: EmulatedEndpoint | undefined): Properties {
  const { pods: _, version: __, ...settings } = { ...endpoint } as Properties;
  return settings;
}

const count = (expected: string, isRight: boolean, actual: number) =>
  unless(isRight, `${actual} endpoints at the service, not ${expected}`);

function fieldProblems(endpoint: EmulatedEndpoint | undefined, expected: Properties): string[] {
  return Object.entries(expected)
    .filter(([field, value]) => (endpoint as Properties | undefined)?.[field] !== value)
    .map(([field, value]) => `${field} is ${(endpoint as Properties | undefined)?.[field]}, not ${value}`);
}

/** Returns the arguments that the error of an existing name suggests. Rethrows any other error. */
function advisedAdoption(error: Error): Properties {
  const adoptId = /set adoptId to "([^"]+)"/.exec(error.message)?.[1];
  if (adoptId === undefined) throw error;
  return { adoptId };
}

function creation(name: string, steps: readonly Step[], program: Properties): Operation {
  return {
    name,
    steps,
    async prepare(site) {
      const one = resource(site);
      return {
        run: () => one.up(program),
        problems: () => count("0 or 1", one.own().length <= 1, one.own().length),
        recover: () => one.up(program).catch((error) => one.up({ ...program, ...advisedAdoption(error) })),
        async problemsAtLast() {
          const made = one.own();
          return [
            ...count("1", made.length === 1, made.length),
            ...fieldProblems(made[0], { gpuIds: "AMPERE_24", templateId: "template", workersMax: 2 }),
            ...(await one.disagreements()),
            ...one.neighbourProblems(),
          ];
        },
      };
    },
  };
}

/** The locations of the changed program, as the service stores them. */
const LOCATIONS = { graphql: "CZ,RO", v2: "EU-CZ-1,EU-RO-1,EU-RO-2" };

const update: Operation = {
  name: "update",
  steps: graphql("list", "save"),
  async prepare(site) {
    const one = resource(site);
    await one.up(PROGRAM);
    const id = one.remembered()?.id ?? "";
    site.emulator.endpoints.change(id, UNMANAGED);
    const program = { ...PROGRAM, workersMax: 4, locations: ["RO", "CZ"] };
    const untouched = () => fieldProblems(site.emulator.endpoints.get(id), { ...UNMANAGED, gpuIds: "AMPERE_24" });
    return {
      run: () => one.up(program),
      problems: untouched,
      recover: () => one.up(program),
      problemsAtLast: async () => [
        ...untouched(),
        ...fieldProblems(site.emulator.endpoints.get(id), { workersMax: 4, locations: LOCATIONS[site.api] }),
        ...(await one.disagreements(EDITED)),
        ...count("1", one.own().length === 1, one.own().length),
        ...one.neighbourProblems(),
      ],
    };
  },
};

const adoption: Operation = {
  name: "adopt",
  steps: graphql("list", "save"),
  async prepare(site) {
    const one = resource(site);
    const { id } = site.emulator.endpoints.create({
      name: "by hand",
      gpuIds: "AMPERE_16",
      templateId: "template",
      ...UNMANAGED,
    });
    const program = { adoptId: id, gpuIds: "AMPERE_24", templateId: "template" };
    const problems = () => [
      ...count("1", one.own().length === 1, one.own().length),
      ...fieldProblems(site.emulator.endpoints.get(id), { ...UNMANAGED, name: "by hand" }),
    ];
    return {
      run: () => one.up(program),
      problems,
      async recover() {
        // One process adopts an endpoint once.
        await using nextRun = await startDynamicProvider(site.env);
        await one.up(program, nextRun);
      },
      problemsAtLast: async () => [
        ...problems(),
        ...fieldProblems(site.emulator.endpoints.get(id), { gpuIds: "AMPERE_24" }),
        ...(await one.disagreements()),
        ...one.neighbourProblems(),
      ],
    };
  },
};

const read: Operation = {
  name: "read",
  steps: graphql("list"),
  async prepare(site) {
    const one = resource(site);
    await one.up(PROGRAM);
    const id = one.remembered()?.id ?? "";
    site.emulator.endpoints.change(id, { ...UNMANAGED, workersMax: 1 });
    const problems = () => [
      ...unless(one.remembered() !== undefined, "an endpoint that exists was taken for gone"),
      ...fieldProblems(site.emulator.endpoints.get(id), { ...UNMANAGED, workersMax: 1 }),
    ];
    return {
      run: async () => void (await one.refresh()),
      problems,
      async recover() {
        await one.forgetLists();
        await one.refresh();
      },
      problemsAtLast: async () => [
        ...problems(),
        ...unless(one.remembered()?.inputs.workersMax === 1, "drift was not seen"),
        ...(await one.disagreements()),
      ],
    };
  },
};

const readGone: Operation = {
  name: "read (gone)",
  steps: graphql("list", "list again"),
  async prepare(site) {
    const one = resource(site);
    await one.up(PROGRAM);
    site.emulator.endpoints.delete(one.remembered()?.id ?? "");
    return {
      run: async () => void (await one.refresh()),
      problems: () => [],
      recover: async () => void (await one.refresh()),
      problemsAtLast: () => unless(one.remembered() === undefined, "an endpoint that is gone is still in state"),
    };
  },
};

function deletion(name: string, steps: readonly Step[], isGone: boolean): Operation {
  return {
    name,
    steps,
    async prepare(site) {
      const one = resource(site);
      await one.up(PROGRAM);
      if (isGone) site.emulator.endpoints.delete(one.remembered()?.id ?? "");
      const orphans = () =>
        unless(
          one.remembered() !== undefined || one.own().length === 0,
          "an endpoint that exists is no longer in state",
        );
      return {
        run: async () => void (await one.destroy()),
        problems: () => [...orphans(), ...one.neighbourProblems()],
        recover: async () => void (await one.destroy()),
        problemsAtLast: () => [
          ...unless(one.remembered() === undefined, "a deleted endpoint is still in state"),
          ...count("0", one.own().length === 0, one.own().length),
          ...one.neighbourProblems(),
        ],
      };
    },
  };
}

export const ENDPOINT_OPERATIONS: readonly Operation[] = [
  creation("create", graphql("list", "save"), PROGRAM),
  creation("create and wait", [{ name: "health", interface: "queue", position: 1 }], {
    ...PROGRAM,
    workersMin: 1,
    awaitReady: true,
  }),
  adoption,
  update,
  read,
  readGone,
  deletion("delete", graphql("list", "save", "delete", "list proof"), false),
  deletion("delete (gone)", graphql("list", "delete"), true),
];
