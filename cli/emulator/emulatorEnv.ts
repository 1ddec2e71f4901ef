import { describeEnvironment } from "./environment";
import { type Running, runningEmulators } from "./running";

/**
 * Prints the environment of an emulator that this user runs on this machine. Returns the exit code.
 */
export async function emulatorEnv({
  port,
  json,
}: {
  readonly port?: number;
  readonly json?: boolean;
}): Promise<number> {
  const all = await responding(runningEmulators());
  const found = all.filter(({ url }) => port === undefined || new URL(url).port === String(port));
  const [first, ...others] = found;
  if (!first) throw new Error(`${nothing(port)}${listed(all)}`);
  if (others.length > 0)
    throw new Error(`${found.length} emulators are running. Choose one with --port:${listed(found)}`);
  process.stdout.write(json ? `${JSON.stringify(first)}\n` : describeEnvironment(first));
  return 0;
}

function nothing(port: number | undefined): string {
  const where = port === undefined ? "" : ` at port ${port}`;
  return `you have no emulator running on this machine${where}. To start one: npx pulumi-serverless-gpu emulator`;
}

function listed(emulators: readonly Running[]): string {
  return emulators.map(({ url }) => `\n  ${url}`).join("");
}

/** Another process may have reused a killed emulator's process id; it would not respond. */
async function responding(emulators: readonly Running[]): Promise<Running[]> {
  const responds = ({ url }: Running) =>
    fetch(`${url}/_emulator/clock`, { signal: AbortSignal.timeout(2000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const alive = await Promise.all(emulators.map(responds));
  return emulators.filter((_, index) => alive[index]);
}
