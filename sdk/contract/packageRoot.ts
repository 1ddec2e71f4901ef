import { existsSync } from "node:fs";
import path from "node:path";

/**
 * Returns the folder that contains this package's package.json. Tests run the code from its
 * sources, while all other code runs from `dist`, where the files have different depths.
 */
export function packageRoot(folder = __dirname): string {
  const parent = path.dirname(folder);
  return existsSync(path.join(folder, "package.json")) || parent === folder ? folder : packageRoot(parent);
}
