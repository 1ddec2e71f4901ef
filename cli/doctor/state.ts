import { isLoopbackUrl, recordedService } from "../../provider/connection/account";
import { RESOURCE_TYPES } from "../../provider/engine/resourceTypes";
import { HOW_TO_DELETE, leftBehind, leftBehindText } from "../leftBehind";
import type { Learned } from "../pulumiCommand";
import {
  classOf,
  DYNAMIC_PREFIX,
  type PendingOperation,
  PLUGIN_PREFIX,
  readStack,
  type StackResource,
  type StackState,
} from "../stack";
import { type CheckResult, failed, ok, skipped, warning } from "./check";
import type { Lists } from "./names";
import { NO_PROJECT, type Program } from "./program";

/** One of this package's resources in state. */
export interface Resource extends StackResource {
  /** `true` if the plugin manages the resource. `type` is always that of the dynamic provider. */
  readonly isOfPlugin?: boolean;
}

/** Reads the selected stack's state. */
export async function readSelectedState(program: Program | undefined): Promise<Learned<StackState>> {
  if (!program) return { problem: NO_PROJECT };
  const state = await readStack({ folder: program.project });
  return "problem" in state ? { problem: `the stack's state cannot be read: ${state.problem}` } : state;
}

/** Returns this package's resources in a state. */
export function ownResources(state: Learned<StackState>): Learned<readonly Resource[]> {
  return "problem" in state ? state : { value: state.value.resources.flatMap(asOwn) };
}

/**
 * Returns a warning if a killed run left operations on this package's resources unfinished. Pulumi
 * does not report them to providers or in previews.
 */
export function checkUnfinished(state: Learned<StackState>): CheckResult[] {
  if ("problem" in state) return [];
  const { resources, pending } = state.value;
  const own = pending.filter(({ resource }) => asOwn(resource).length > 0);
  if (own.length === 0) return [];
  // Pulumi keeps the pending create until someone clears it, even if the resource is known by now.
  const isKnownNow = ({ type, resource }: PendingOperation) =>
    type === "creating" && resources.some(({ urn, pendingReplacement }) => urn === resource.urn && !pendingReplacement);
  const open = own.filter((each) => !isKnownNow(each));
  if (open.length === 0)
    return [
      warning(
        `creates of a killed run are still pending, although the state contains their resources: ${listed(own)}`,
        "Run: pulumi refresh --clear-pending-creates",
      ),
    ];
  return [
    warning(
      `the state contains pending operations of a run that was killed or is still active: ${listed(open)}`,
      "Once no run is active, run pulumi up --refresh, which reads the service before it changes anything. If a pending create has " +
        "made an endpoint or a network volume, this creates no second one. Of other kinds with automatic names, there may be " +
        "a second one afterwards: npx pulumi-serverless-gpu orphans lists the first.",
    ),
  ];
}

const listed = (operations: readonly PendingOperation[]) =>
  operations.map(({ type, resource }) => `${type} ${resource.urn}`).join(", ");

function asOwn(resource: StackResource): Resource[] {
  const { type } = resource;
  const name = classOf(type);
  if (name === undefined) return [];
  return [type.startsWith(PLUGIN_PREFIX) ? { ...resource, type: DYNAMIC_PREFIX + name, isOfPlugin: true } : resource];
}

/**
 * Returns `true` if every resource in state uses a `ServerlessGpuProvider` with its own key and
 * URLs.
 */
export function haveOwnProviders(resources: Learned<readonly Resource[]>): boolean {
  if ("problem" in resources || resources.value.length === 0) return false;
  return resources.value.every(({ provider = "::default::" }) => !hasDefaultProvider(provider));
}

const hasDefaultProvider = (provider: string) => /::default(_[^:]*)?::/.test(provider);

/**
 * Checks that this version can read, refresh and destroy the resources in the selected stack's
 * state.
 */
export function checkState(resources: Learned<readonly Resource[]>): CheckResult {
  if ("problem" in resources) return skipped(resources.problem);
  const own = resources.value;
  const unknown = own.filter((resource) => !isKnown(resource));
  if (unknown.length === 0) return ok(own.length === 0 ? "contains no resources from this package" : described(own));
  return failed(
    `${unknown.length} of ${own.length} resources were written by a version that this one does not know: ` +
      unknown.map(({ urn }) => urn).join(", "),
    "Install the newest version of the package, or the version that wrote them.",
  );
}

/**
 * Returns a warning for each other service that the state refers to. It says whether the service
 * still responds and which resources it contains. Sends no key.
 */
export async function checkOtherServices(
  resources: Learned<readonly Resource[]>,
  graphqlUrl: string | undefined,
): Promise<CheckResult[]> {
  if ("problem" in resources) return [];
  const placed = resources.value.map(({ urn, outputs }) => ({ urn, place: recordedService({ ...outputs }) }));
  const others = [...new Set(placed.flatMap(({ place }) => place ?? []))].filter((place) =>
    isOtherEmulator(place, graphqlUrl),
  );
  return Promise.all(
    others.map(async (place) => {
      const urns = placed.filter((each) => each.place === place).map(({ urn }) => urn);
      const names = urns.map((urn) => urn.split("::").at(-1)).join(", ");
      const found = `${urns.length === 1 ? "1 resource in the state is" : `${urns.length} resources in the state are`} at ${place}, but the settings name another service: ${names}`;
      return (await responds(place))
        ? warning(
            `${found}. That service responds, so they may still exist`,
            `Use its URLs and key again, for example in the shell of its emulator: eval "$(npx pulumi-serverless-gpu emulator env)"`,
          )
        : warning(
            `${found}. That service does not respond now. If it was an emulator, it may have ended`,
            "Start it again with the same --data file. If it has ended for good, begin a new stack, or remove exactly these " +
              `resources from the state: ${urns.map((urn) => `pulumi state delete '${urn}'`).join("; ")}`,
          );
    }),
  );
}

/** Returns a warning for each endpoint and volume that `deletedWith` would leave running. */
export function checkLeftBehind(state: Learned<StackState>): CheckResult[] {
  if ("problem" in state) return [];
  return leftBehind(state.value.resources).map((each) => warning(leftBehindText(each), HOW_TO_DELETE));
}

/** Returns `true` if the state refers to an emulator other than the service in use. */
function isOtherEmulator(place: string, graphqlUrl: string | undefined): boolean {
  return isLoopbackUrl(place) && place !== graphqlUrl;
}

/** The list that contains the records of each resource class. */
const LIST_OF = { ServerlessEndpoint: "endpoints", ServerlessTemplate: "templates", NetworkVolume: "volumes" } as const;

/**
 * Returns a warning if the account contains none of the records in state, because the key then
 * probably belongs to another account. Resources with an explicit provider are ignored.
 */
export function checkAccount(
  resources: Learned<readonly Resource[]>,
  lists: Lists,
  graphqlUrl: string | undefined,
): CheckResult[] {
  if ("problem" in resources) return [];
  const listed = resources.value.flatMap(({ id, type, outputs, provider = "::default::" }) => {
    const list = LIST_OF[classOf(type) as keyof typeof LIST_OF];
    const place = recordedService({ ...outputs });
    const isElsewhere = place !== undefined && isOtherEmulator(place, graphqlUrl);
    const records = list && lists[list];
    if (id === undefined || !records || isElsewhere || !hasDefaultProvider(provider)) return [];
    return [{ id, isThere: records.some((each) => each.id === id) }];
  });
  if (listed.length === 0 || listed.some(({ isThere }) => isThere)) return [];
  return [
    warning(
      `none of the ${listed.length} endpoints, templates and volumes in the state is in this account: ` +
        listed.map(({ id }) => id).join(", "),
      "Check the key and the URLs: they probably belong to another account. If they are right, pulumi preview --refresh shows " +
        "what is missing.",
    ),
  ];
}

const RESPONSE_MS = 3_000;

/** Returns `true` if a server responds at the URL, whatever the response. */
async function responds(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns `true` if this version knows the provider code that a dynamic resource keeps in state.
 * Both copies count: Pulumi reads and deletes with the copy in the outputs, and does everything
 * else with the copy in the inputs.
 */
function isKnown({ type, inputs, outputs, isOfPlugin = false }: Resource): boolean {
  if (isOfPlugin) return RESOURCE_TYPES.some((each) => each.type === type);
  const codes = [inputs?.__provider, outputs?.__provider].filter((code) => code !== undefined);
  const known = RESOURCE_TYPES.find((each) => each.type === type)?.provider;
  return codes.length > 0 && codes.every((code) => code === known);
}

function described(own: readonly Resource[]): string {
  const counts = RESOURCE_TYPES.map(({ type }) => {
    const count = own.filter((resource) => resource.type === type).length;
    return count === 0 ? [] : `${count} ${classOf(type)}`;
  });
  return `${counts.flat().join(", ")}, all of which this version knows`;
}
