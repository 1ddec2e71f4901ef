import { readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../sdk/contract/packageRoot";

/** The fields of this package's package.json that the command needs. */
interface OwnPackage {
  readonly name: string;
  readonly version: string;
  /** The supported Node.js versions, as a range. */
  readonly engines: { readonly node: string };
  readonly peerDependencies: { readonly "@pulumi/pulumi": string };
}

/** Returns this package's package.json. */
export function ownPackage(): OwnPackage {
  return JSON.parse(readFileSync(path.join(packageRoot(), "package.json"), "utf8"));
}
