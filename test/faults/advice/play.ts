import { type Emulator, type EmulatorOptions, startEmulator } from "../../../emulator";
import { type CommandResult, createStack, type PulumiStack } from "../../pulumi/harness";

/** A mistake in a program, and the program after the advice was followed to the letter. */
export interface Play {
  /** JavaScript that declares resources. `$` stands for an own name. */
  readonly before: string;
  readonly says: RegExp;
  /** The same program after the advice, given the printed message. */
  readonly after: string | ((message: RegExpExecArray) => string);
  /** What the message promised, as the service then shows it. */
  readonly holds?: (emulator: Emulator, name: string) => void;
}

export const HEAD = `
const pulumi = require("@pulumi/pulumi");
const gpu = require("pulumi-serverless-gpu");
const { ServerlessEndpoint, ServerlessTemplate, NetworkVolume, Secret, SmokeTest, ServerlessGpuProvider } = gpu;
const config = new pulumi.Config();
const right = { gpuIds: "AMPERE_24", templateId: "template" };
const image = { gpuIds: "AMPERE_24", imageName: "me/app:1" };
`;

export const UP = ["up", "--yes", "--skip-preview"];

/** Returns an emulator and a stack that uses it. */
export async function startPlays(options: EmulatorOptions = {}) {
  const emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, ...options });
  const stack = await createStack({ env: emulator.env });
  return { emulator, stack, [Symbol.asyncDispose]: () => emulator.stop() };
}

export const nameOf = (at: number) => `p${at}`;

/** Declares each play's resources in a scope of its own. */
export function programOf(parts: readonly string[]): string {
  return HEAD + parts.map((part, at) => `{\n${part.replaceAll("$", nameOf(at))}\n}`).join("\n");
}

/** Expects a message in what was printed, and returns it. */
export function printed({ output }: Pick<CommandResult, "output">, says: RegExp): RegExpExecArray {
  const message = says.exec(output);
  if (!message) throw new Error(`${says} was not printed:\n${output}`);
  return message;
}

/**
 * Plays all of them in one program: it provokes the messages in one run, follows each, and expects
 * that the next run succeeds and repeats none of them.
 */
export async function playAll(
  { emulator, stack }: { readonly emulator: Emulator; readonly stack: PulumiStack },
  plays: readonly Play[],
  command: readonly string[] = UP,
): Promise<void> {
  await stack.writeProgram(programOf(plays.map(({ before }) => before)));
  const first = await stack.run(command);
  const messages = plays.map(({ says }) => printed(first, says));
  const after = plays.map(({ after }, at) => {
    const message = messages[at] as RegExpExecArray;
    return typeof after === "string" ? after : after(message);
  });
  await stack.writeProgram(programOf(after));
  const { output } = await stack.succeed(UP);
  for (const { says } of plays) expect(output).not.toMatch(says);
  await stack.preview("--refresh", "--expect-no-changes");
  for (const [at, { holds }] of plays.entries()) holds?.(emulator, nameOf(at));
}
