import { SERVERLESS_ENDPOINT, SMOKE_TEST } from "../../provider/resourceTypes";
import { type Finding, failed, ok, skipped } from "./check";
import { NO_PROJECT, type Program } from "./program";
import { pulumiJson } from "./pulumiCommand";

const KNOWN = [SERVERLESS_ENDPOINT, SMOKE_TEST];
const TYPE_PREFIX = "pulumi-nodejs:dynamic/serverless-gpu:";

/** A resource of the state, as far as it is looked at. */
interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly inputs?: { readonly __provider?: unknown };
  readonly outputs?: { readonly __provider?: unknown };
}

interface State {
  readonly deployment?: { readonly resources?: readonly Resource[] };
}

/** Whether this version can read, refresh and destroy what the selected stack's state holds. */
export async function checkState(program: Program | undefined): Promise<Finding> {
  if (!program) return skipped(NO_PROJECT);
  const state = await pulumiJson<State>(["stack", "export"], program.project);
  if ("problem" in state) return skipped(`the stack's state cannot be read: ${state.problem}`);
  const own = (state.value.deployment?.resources ?? []).filter(({ type }) => type.startsWith(TYPE_PREFIX));
  const unknown = own.filter((resource) => !isKnown(resource));
  if (unknown.length === 0) return ok(own.length === 0 ? "holds no resource of this package" : described(own));
  return failed(
    `${unknown.length} of ${own.length} resources were written by a version that this one does not know: ` +
      unknown.map(({ urn }) => urn).join(", "),
    "Install the newest version of the package, or the one that wrote them.",
  );
}

/** Read and delete run the text of the outputs, everything else that of the inputs. */
function isKnown({ type, inputs, outputs }: Resource): boolean {
  const texts = [inputs?.__provider, outputs?.__provider].filter((text) => text !== undefined);
  const known = KNOWN.find((each) => each.type === type)?.provider;
  return texts.length > 0 && texts.every((text) => text === known);
}

function described(own: readonly Resource[]): string {
  const counts = KNOWN.map(({ type }) => {
    const count = own.filter((resource) => resource.type === type).length;
    return count === 0 ? [] : `${count} ${type.slice(TYPE_PREFIX.length)}`;
  });
  return `${counts.flat().join(", ")}, all of which this version knows`;
}
