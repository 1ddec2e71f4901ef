import { existsSync } from "node:fs";
import path from "node:path";

/**
 * Returns the folder of this package's package.json. The code runs from its sources in tests, and
 * otherwise from files of `dist`, which are at other depths.
 */
export function packageRoot(folder = __dirname): string {
  const parent = path.dirname(folder);
  return existsSync(path.join(folder, "package.json")) || parent === folder ? folder : packageRoot(parent);
}
