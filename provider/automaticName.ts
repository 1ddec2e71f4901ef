import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";

const DIGITS = 7;

/** `<logical name>-<7 hex digits>`, the digits from all that tells the resource from others: the same on every run. */
export function automaticName(logicalName: string, parent: pulumi.Resource | undefined): pulumi.Input<string> {
  const nameUnder = (parentUrn: string) => {
    const identity = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack(), parentUrn, logicalName];
    const digest = createHash("sha256").update(JSON.stringify(identity)).digest("hex");
    return `${logicalName}-${digest.slice(0, DIGITS)}`;
  };
  return parent === undefined ? nameUnder("") : parent.urn.apply(nameUnder);
}
