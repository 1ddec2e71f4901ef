/** The oldest Node.js version that can run the package, as declared in package.json. */
export const OLDEST_NODE = "20.19";

/**
 * Returns the reason why this version of Node.js cannot run the package, or `undefined` if it can.
 */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split(".").map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return (
    `Node.js ${OLDEST_NODE} or later is needed, and this is ${version}. Install a newer one: https://nodejs.org ` +
    "(with nvm: nvm install --lts)"
  );
}
