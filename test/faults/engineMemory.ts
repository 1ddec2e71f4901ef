import { SECRET_SIGNATURE, SIGNATURE } from "../../provider/engine/properties";
import { initFailure, type Properties, type startDynamicProvider } from "../support/dynamicProvider";

export type DynamicProvider = Awaited<ReturnType<typeof startDynamicProvider>>;

/** The record of a resource that the engine keeps between two runs. */
export interface Remembered {
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
  /** `true` for an incomplete resource: the next run updates it regardless of `diff`. */
  readonly isHalfMade?: boolean;
}

/** A failed step, and the engine's record after it. */
export class StepFailed extends Error {
  constructor(
    message: string,
    readonly remembered: Remembered | undefined,
  ) {
    super(message);
  }
}

/**
 * Runs one resource's part of a `pulumi up` as the engine does: check, then create, or diff and
 * update.
 */
export async function up(
  provider: DynamicProvider,
  program: Properties,
  before: Remembered | undefined,
): Promise<Remembered> {
  const { inputs, failures } = await provider.check(before?.inputs ?? {}, program);
  if (failures.length > 0) throw new StepFailed(JSON.stringify(failures), before);
  try {
    if (!before) {
      const { id, outputs } = await provider.create(inputs);
      return { id, inputs, outputs };
    }
    const { changes } = await provider.diff(before.id, before.outputs, inputs);
    if (changes === "none" && !before.isHalfMade) return before;
    return { id: before.id, inputs, outputs: await provider.update(before.id, before.outputs, inputs) };
  } catch (error) {
    const failure = initFailure(error);
    if (!failure) throw new StepFailed(messageOf(error), before);
    const outputs = plain(failure.properties) as Properties;
    throw new StepFailed(failure.message, { id: failure.id, inputs, outputs, isHalfMade: true });
  }
}

/** Runs one resource's part of a `pulumi refresh`. Returns `undefined` if it is gone. */
export async function refresh(provider: DynamicProvider, before: Remembered): Promise<Remembered | undefined> {
  try {
    const { id, inputs, outputs } = await provider.read(before.id, before.outputs);
    return id === "" ? undefined : { id, inputs, outputs };
  } catch (error) {
    throw new StepFailed(messageOf(error), before);
  }
}

/** Runs one resource's part of a `pulumi destroy`. */
export async function destroy(provider: DynamicProvider, before: Remembered): Promise<undefined> {
  try {
    await provider.delete(before.id, before.outputs);
  } catch (error) {
    throw new StepFailed(messageOf(error), before);
  }
}

/** Returns values as the engine passes them to a dynamic provider: without the marks of secrets. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const properties = value as Properties;
  if (properties[SIGNATURE] === SECRET_SIGNATURE) return properties.value;
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, plain(each)]));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
