import * as pulumi from "@pulumi/pulumi";
import { looksLikeCredential } from "../../../sdk/containers/fields";

type Env = Record<string, pulumi.Input<string>>;

/**
 * Returns the environment with secret values where a variable looks like a credential. Other values
 * stay as the program marked them. An environment that is one output as a whole becomes secret as a
 * whole if it holds a credential.
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
