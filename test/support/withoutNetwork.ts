import { spawnSync } from "node:child_process";

/**
 * Runs a command in a network namespace that has only a loopback interface. The last line of its
 * standard error is the number of attempts to send something elsewhere: connections and DNS queries
 * that had no route.
 */
const SCRIPT = `
ip link set lo up || exit 99
"$@"
code=$?
awk '/^Ip:/ { sent = $13 } END { print "attempts to leave: " sent }' /proc/net/snmp >&2
exit $code`;

const NAMESPACE = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--net", "bash", "-c", SCRIPT];

/** Returns the command that runs another one without a network. */
export const withoutNetwork = (words: readonly string[]): [string, string[]] => {
  const [command = "", ...args] = [...NAMESPACE, "without-network", ...words];
  return [command, args];
};

/** `true` if this machine can have such a namespace, and counts attempts. */
export const hasNamespaces = attemptsIn(spawn(["true"]).stderr) === 0;

/** Returns the number of attempts to send something elsewhere. */
export function attemptsIn(stderr: string): number | undefined {
  const [, found] = /^attempts to leave: (\d+)$/m.exec(stderr) ?? [];
  return found === undefined ? undefined : Number(found);
}

/** Runs a command to its end. */
export function spawn(words: readonly string[]) {
  const [command, args] = withoutNetwork(words);
  return spawnSync(command, args, { encoding: "utf8" });
}
