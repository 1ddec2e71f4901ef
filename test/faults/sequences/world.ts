import { readFile } from "node:fs/promises";
import path from "node:path";
import type { PulumiStack, StateResource } from "../../pulumi/harness";
import type { MachineIndex, Setup } from "./actions";
import type { Program, ProviderName } from "./program";
import { type AccountName, accountOf, type KeyName, type Service, startService } from "./service";

/** An endpoint as the service has it. */
export interface Alive {
  readonly id: string;
  readonly account: AccountName;
  /** Its fields. `imageName` is the image that it serves, whatever holds that. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** A machine with a backend of its own. All have the same project and stack names. */
export interface Machine {
  /** Undefined until its first run. */
  stack: PulumiStack | undefined;
  program: Program;
  key: KeyName;
  /** The program to return to after a refusal. */
  lastGood: { readonly program: Program; readonly key: KeyName };
  /** The last command that was refused: its program and what it said. */
  refused?: { readonly program: Program; readonly key: KeyName; readonly output: string } | undefined;
  /** `true` if the last run failed to delete something. */
  hasFailedDeletion: boolean;
  /** `true` if the last run was disturbed, and failed. */
  wasDisturbed: boolean;
  /** Every key that it ever ran with. */
  readonly keys: Set<KeyName>;
  /** Every id that its program ever named in `adoptId`. */
  readonly adopted: Set<string>;
}

/** Everything that exists, and what the checks remember of it. */
export interface World {
  readonly setup: Setup;
  readonly service: Service;
  readonly machines: readonly [Machine, Machine];
  /** Endpoints that no program created: `own` are those with an image of their own. */
  readonly foreign: readonly string[];
  readonly own: readonly string[];
  /** Those of them that no program has adopted yet. */
  readonly theirs: Map<string, Theirs>;
  /** Endpoints that a program created or adopted. */
  readonly ours: Set<string>;
  /** Endpoints that a disturbed run changed, with the cache folder of that run. */
  readonly unseen: Map<string, string>;
  /** The image that the last `up` with exit code 0 left, by the endpoint's id. */
  readonly accepted: Map<string, unknown>;
  /** `true` if jobs may hold workers. */
  holdsJobs: boolean;
  /** Endpoints that a killed run or a lost response left without a state. */
  readonly orphans: Map<string, MachineIndex>;
  /** Endpoints whose state is known to be outdated until the next refresh. */
  readonly stale: Set<string>;
  /** The values to which people and programs have set an endpoint's counts, by its id. */
  readonly given: Map<string, Given>;
  /** Endpoints that a person has switched off, which no run has reported yet. */
  readonly switchedOff: Set<string>;
  /** Previous names of endpoints. A lagging list still shows them. */
  readonly formerNames: Set<string>;
  /** Names that two endpoints have, as a run has said. */
  readonly said: Set<string>;
  stop(): Promise<void>;
}

/** Every value to which a program or a person has set each count of an endpoint. */
export type Given = Readonly<Record<"workersMin" | "workersMax", Set<unknown>>>;

/** Somebody else's endpoint. */
export interface Theirs {
  /** What its owner has set. */
  record: Alive["record"];
  /** The cache folder of the disturbed run that changed it. */
  leftBy?: string | undefined;
}

export async function createWorld(setup: Setup): Promise<World> {
  const service = await startService(setup);
  const input = { gpuIds: "AMPERE_24", templateId: "template", workersMax: 1 };
  const foreign = [
    service.accounts.A.endpoints.create({ ...input, name: "theirs" }).id,
    service.accounts.B.endpoints.create({ ...input, name: "theirs" }).id,
  ];
  for (let index = 0; index < (setup.crowd ?? 0); index++) {
    foreign.push(service.accounts.A.endpoints.create({ ...input, name: `crowd-${index}` }).id);
  }
  const own = setup.observed && !setup.crowd ? [await makeOwn(service, "A"), await makeOwn(service, "B")] : [];
  foreign.push(...own);
  const machines = [createMachine(), createMachine()] as const;
  const alive = aliveIn({ service });
  return {
    setup,
    service,
    machines,
    foreign,
    own,
    theirs: new Map(foreign.map((id) => [id, { record: alive.get(id)?.record ?? {} }])),
    ours: new Set(),
    unseen: new Map(),
    accepted: new Map(),
    holdsJobs: false,
    orphans: new Map(),
    stale: new Set(),
    given: new Map(),
    switchedOff: new Set(),
    formerNames: new Set(),
    said: new Set(),
    async stop() {
      await Promise.all(machines.map(({ stack }) => stack?.dispose()));
      await service.stop();
    },
  };
}

function createMachine(): Machine {
  const program: Program = { resources: [] };
  const lastGood = { program, key: "a1" } as const;
  return {
    stack: undefined,
    program,
    key: "a1",
    lastGood,
    hasFailedDeletion: false,
    wasDisturbed: false,
    keys: new Set(),
    adopted: new Set(),
  };
}

/** Somebody's endpoint with an image of its own, as the console makes it. */
async function makeOwn({ accounts }: Service, account: AccountName): Promise<string> {
  const { url, apiKey } = accounts[account];
  const body = {
    type: "QUEUE",
    scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
    name: "own",
    image: "me/theirs",
    gpu: { pools: ["AMPERE_24"] },
    workers: { min: 0, max: 1 },
  };
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const response = await fetch(`${url}/v2/serverless`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { id: string }).id;
}

/** The template of all programs, with the image that the service gives it. */
export const TEMPLATE = "template";
export const TEMPLATE_IMAGE = "example/image:latest";

/** All endpoints of both accounts. */
export function aliveIn({ service }: Pick<World, "service">): Map<string, Alive> {
  const accounts: AccountName[] = ["A", "B"];
  return new Map(
    accounts.flatMap((account) => {
      const { endpoints, templates } = service.accounts[account];
      return endpoints.list().map(({ pods: _, container, ...record }) => {
        const { id, templateId } = record;
        const imageName = container?.imageName ?? templates.get(templateId)?.imageName ?? TEMPLATE_IMAGE;
        return [id, { id, account, record: { ...record, imageName } }] as const;
      });
    }),
  );
}

/** The fields of an endpoint, as the service's record and the resource's outputs both name them. */
const FIELDS = [
  "name",
  "gpuIds",
  "templateId",
  "idleTimeout",
  "scalerType",
  "scalerValue",
  "workersMin",
  "workersMax",
  "imageName",
];

/** Returns the fields in which the service's record differs. */
export function differingFields(
  record: Alive["record"],
  { templateId, imageName, ...others }: Readonly<Record<string, unknown>>,
): string[] {
  // An endpoint has either an image or the template, whose image then serves. Outputs have "" for
  // the other.
  const ofTemplate = templateId === TEMPLATE ? { templateId, imageName: TEMPLATE_IMAGE } : {};
  const wanted = { ...others, ...(imageName ? { imageName } : ofTemplate) };
  return FIELDS.filter((field) => field in wanted && wanted[field as keyof typeof wanted] !== record[field]);
}

/** An endpoint in a state. */
export interface Entry {
  readonly name: string;
  readonly urn: string;
  readonly id: string;
  /** `true` if only its deletion is left to do. */
  readonly isDoomed: boolean;
  /**
   * `true` if a replacement has deleted it and not yet created the next. A refresh does not read it
   * (the engine's rule).
   */
  readonly isReplaced: boolean;
  readonly provider: ProviderName | undefined;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** `true` if its last create or update failed after the effect. */
  readonly isHalfMade: boolean;
}

const TYPES = ["pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint", "serverless-gpu:index:ServerlessEndpoint"];

/** The type of the resources. */
export const typeOf = ({ isPlugin }: Setup) => TYPES[isPlugin ? 1 : 0];

/**
 * The endpoints in a machine's state, read from the backend's file, which is a second faster than
 * the engine's export.
 */
export async function entriesOf({ stack }: Machine): Promise<Entry[]> {
  if (!stack) return [];
  const file = path.join(stack.scratch, "state/.pulumi/stacks/test/dev.json");
  const { checkpoint } = JSON.parse(await readFile(file, "utf8"));
  const resources: StateResource[] = checkpoint.latest?.resources ?? [];
  return resources
    .filter(({ type, id }) => TYPES.includes(type) && id)
    .map(({ urn, id, outputs, delete: isDoomed, pendingReplacement, provider, initErrors }) => ({
      name: urn.slice(urn.lastIndexOf("::") + 2),
      urn,
      id: id ?? "",
      isDoomed: isDoomed === true,
      isReplaced: pendingReplacement === true,
      provider: providerName(String(provider)),
      outputs: withTexts(outputs),
      isHalfMade: Array.isArray(initErrors) && initErrors.length > 0,
    }));
}

/** The plugin's outputs have lists where the service and the dynamic form have texts. */
const withTexts = (outputs: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
  );

const providerName = (reference: string): ProviderName | undefined => {
  const name = reference.split("::").at(-2);
  return name === "pa" || name === "pb" || name === "px" ? name : undefined;
};

/** The account that a resource of the program belongs to; `undefined` if its key is unknown. */
export function accountFor(machine: Machine, provider: ProviderName | undefined): AccountName | undefined {
  if (provider === undefined) return accountOf(machine.key);
  return ({ pa: "A", pb: "B", px: undefined } as const)[provider];
}
