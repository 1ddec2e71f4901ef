import type * as pulumi from "@pulumi/pulumi";

/**
 * A record's settings as resource arguments, with the client's documentation. Each setting, and
 * each element of a list, may be an output.
 */
export type ArgsOf<Settings> = {
  -readonly [K in keyof Settings]:
    | pulumi.Input<WithInputElements<Exclude<Settings[K], undefined>>>
    | (undefined extends Settings[K] ? undefined : never);
};

type WithInputElements<T> = T extends readonly (infer Element)[] ? pulumi.Input<Element>[] : T;
