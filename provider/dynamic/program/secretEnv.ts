import * as pulumi from "@pulumi/pulumi";
import { looksLikeCredential } from "../../../sdk/containers/fields";

type Env = Record<string, pulumi.Input<string>>;

/**
 * Marks the values of variables that look like credentials as secret. Other values keep the
 * program's marking. If the whole environment is a single output and contains a credential, it
 * becomes secret as a whole.
 */
export function secretEnv(env: pulumi.Input<Env | null>): pulumi.Input<Env | null> {
  if (pulumi.Output.isInstance(env) || env instanceof Promise) {
    return pulumi
      .output(env)
      .apply((resolved) => (resolved ? marked(resolved as Env) : resolved)) as pulumi.Output<Env>;
  }
  return env && typeof env === "object" ? marked(env) : env;
}

function marked(env: Env): Env {
  const entries = Object.entries(env).map(([name, value]) => [
    name,
    looksLikeCredential(name) ? pulumi.secret(value) : value,
  ]);
  return Object.fromEntries(entries);
}
