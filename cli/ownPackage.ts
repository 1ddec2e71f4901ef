import { readFileSync } from "node:fs";
import path from "node:path";

/** As much of this package's package.json as the command needs. */
export interface OwnPackage {
  readonly name: string;
  readonly version: string;
  /** Versions of Node.js, as a range. */
  readonly engines: { readonly node: string };
  readonly peerDependencies: { readonly "@pulumi/pulumi": string };
}

/** This package's package.json, seen from `dist/cli`. */
export function ownPackage(): OwnPackage {
  return JSON.parse(readFileSync(path.join(__dirname, "../../package.json"), "utf8"));
}
