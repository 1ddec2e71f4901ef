import { existsSync } from "node:fs";
import path from "node:path";

/**
 * Returns the folder that contains this package's package.json. The folder is searched for, because
 * tests run the code from its sources and all other code runs from `dist`, where files have
 * different depths.
 */
export function packageRoot(folder = __dirname): string {
  const parent = path.dirname(folder);
  return existsSync(path.join(folder, "package.json")) || parent === folder ? folder : packageRoot(parent);
}
