import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isObject } from "../../../provider/engine/properties";
import { type Pulumi, succeeded } from "./engine";
import { type CopiedResource, type Exported, rewriteState, type Stage } from "./rewriteState";
import type { Workspace } from "./workspace";

const TYPE = "pulumi:pulumi:StackReference";
/** The organization of every stack in a self-managed backend. */
const LOCAL = "organization";

/**
 * Creates the stacks that the state refers to, with the outputs that the state contains, so that
 * the program can read them. Returns notes on what the rehearsal cannot know about these stacks.
 * @throws Error if a reference names an organization, which the temporary backend does not have
 */
export async function createReferencedStacks(
  exported: Exported,
  stage: Omit<Stage, "salt">,
  { copy, name: project }: Pick<Workspace, "copy" | "name">,
  pulumi: Pulumi,
): Promise<string[]> {
  const references = (exported.deployment.resources ?? []).filter(({ type }) => type === TYPE);
  const known = new Map<string, CopiedResource>();
  for (const reference of references) known.set(String(reference.inputs?.name ?? reference.id), reference);
  for (const [name, reference] of known) {
    const parts = name.split("/");
    if (parts.length === 3 && parts[0] !== LOCAL)
      throw new Error(
        `the program refers to the stack ${name}, which a rehearsal cannot copy: its temporary backend has no organization "${parts[0]}". ` +
          `Name it without the organization (${parts.slice(1).join("/")}), as Pulumi allows within one organization. Nothing was started`,
      );
    await createStack(parts, reference, exported, { stage, copy, project, pulumi });
  }
  return known.size === 0 ? [] : [`The outputs of ${[...known.keys()].join(", ")} are those of the last update.`];
}

async function createStack(
  parts: readonly string[],
  { outputs = {} }: CopiedResource,
  { version }: Exported,
  { stage, copy, project, pulumi }: { stage: Omit<Stage, "salt">; copy: string; project: string; pulumi: Pulumi },
): Promise<void> {
  const [stack = "", of = project] = [...parts].reverse();
  const folder = path.join(copy, "referenced", of);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(folder, "Pulumi.yaml"), `name: ${of}\nruntime: yaml\n`);
  const failed = `the copy of the stack ${parts.join("/")} cannot be created`;
  await succeeded(failed, pulumi(["stack", "init", stack], { folder }));
  const { deployment } = JSON.parse(await succeeded(failed, pulumi(["stack", "export", "--stack", stack], { folder })));
  const secrets = deployment.secrets_providers?.state?.salt;
  const type = "pulumi:pulumi:Stack";
  const root: CopiedResource = {
    urn: `urn:pulumi:${stack}::${of}::${type}::${of}-${stack}`,
    type,
    custom: false,
    outputs: isObject(outputs.outputs) ? outputs.outputs : {},
  } as CopiedResource;
  const { state } = rewriteState(
    { version, deployment: { ...deployment, resources: [root] } },
    { ...stage, salt: secrets },
  );
  await succeeded(failed, pulumi(["stack", "import", "--stack", stack], { folder, input: JSON.stringify(state) }));
}
