import { readFileSync } from "node:fs";
import path from "node:path";

/** The fields of this package's package.json that the command needs. */
export interface OwnPackage {
  readonly name: string;
  readonly version: string;
  /** Supported Node.js versions, as a range. */
  readonly engines: { readonly node: string };
  readonly peerDependencies: { readonly "@pulumi/pulumi": string };
}

/** Returns this package's package.json. The path is relative to `dist/cli`. */
export function ownPackage(): OwnPackage {
  return JSON.parse(readFileSync(path.join(__dirname, "../../package.json"), "utf8"));
}
