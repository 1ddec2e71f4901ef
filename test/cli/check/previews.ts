import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { check } from "../../../cli/check/check";
import type { CheckFlags } from "../../../cli/check/checkFlags";
import type { Emulator } from "../../../emulator";

type Values = Readonly<Record<string, unknown>>;

/** The two forms, which write the same settings differently. */
export const FORMS = { dynamic: "pulumi-nodejs:dynamic/serverless-gpu", plugin: "serverless-gpu:index" } as const;
export type Form = keyof typeof FORMS;

/** The engine's placeholder for a value that is not known yet. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const LISTS = ["gpuIds", "locations", "networkVolumeIds", "allowedCudaVersions", "instanceIds"];

interface StepOptions {
  readonly kind?: "ServerlessEndpoint" | "NetworkVolume";
  readonly old?: Values & { readonly id: string };
  readonly inputs?: Values;
  readonly form?: Form;
  readonly provider?: string;
  readonly dependencies?: Readonly<Record<string, readonly string[]>>;
  readonly retainOnDelete?: boolean;
  readonly deletedWith?: string;
  /** The errors of the last run. */
  readonly initErrors?: readonly string[];
  /** The id of the option `import`. */
  readonly importID?: string;
}

/** Returns the URN of a resource. */
export function urnOf(name: string, kind = "ServerlessEndpoint", form: Form = "dynamic"): string {
  return `urn:pulumi:dev::test::${FORMS[form]}:${kind}::${name}`;
}

/** Returns a step as `pulumi preview --json` prints it. */
export function step(op: string, name: string, options: StepOptions): object {
  const {
    kind = "ServerlessEndpoint",
    old,
    inputs,
    form = "dynamic",
    retainOnDelete,
    deletedWith,
    importID,
    initErrors,
  } = options;
  const provider = `urn:pulumi:dev::test::pulumi:providers:x::${options.provider ?? "default"}::id`;
  const written = (values: Values) =>
    Object.fromEntries(
      Object.entries(values).map(([field, value]) => [
        field,
        form === "plugin" && LISTS.includes(field) && typeof value === "string" ? value.split(",") : value,
      ]),
    );
  const common = {
    urn: urnOf(name, kind, form),
    type: `${FORMS[form]}:${kind}`,
    provider,
    retainOnDelete,
    deletedWith,
  };
  const { id, ...outputs } = old ?? { id: "" };
  return {
    op,
    urn: common.urn,
    provider,
    ...(old && { oldState: { ...common, id, initErrors, inputs: written(outputs), outputs: written(outputs) } }),
    ...(inputs && {
      newState: { ...common, importID, inputs: written(inputs), propertyDependencies: options.dependencies ?? {} },
    }),
  };
}

/** Returns a preview of these steps. */
export function previewOf(steps: readonly object[], same = 0): string {
  const root = {
    op: "same",
    urn: "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev",
    newState: { type: "pulumi:pulumi:Stack" },
  };
  const shown = steps.filter((each) => (each as { op: string }).op === "same").length;
  return JSON.stringify({ steps: [root, ...steps], changeSummary: { same: 1 + shown + same } });
}

/** Runs the command in this process. Returns its exit code and its output. */
export async function reviewed(
  preview: string,
  {
    emulator,
    env = emulator?.env ?? {},
    ...flags
  }: Omit<CheckFlags, "env"> & { emulator?: Emulator; env?: Readonly<Record<string, string>> },
): Promise<{ code: number; stdout: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), "check-"));
  const file = path.join(folder, "preview.json");
  writeFileSync(file, preview);
  const before = process.env;
  const own = Object.entries(before).filter(([name]) => !name.startsWith("SERVERLESS_GPU_"));
  let stdout = "";
  const write = jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  // The command says there which account it reads.
  const quiet = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    process.env = { ...Object.fromEntries(own), ...env };
    return { code: await check(file, flags, "1.2.3"), stdout };
  } finally {
    process.env = before;
    write.mockRestore();
    quiet.mockRestore();
    rmSync(folder, { recursive: true });
  }
}
