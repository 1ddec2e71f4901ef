import type * as pulumi from "@pulumi/pulumi";

/**
 * The settings of a record as the arguments of a resource, with the documentation of the client's: each may be an output, and
 * so may each element of a list.
 */
export type ArgsOf<Settings> = {
  -readonly [K in keyof Settings]: pulumi.Input<WithInputElements<Exclude<Settings[K], undefined>>>;
};

type WithInputElements<T> = T extends readonly (infer Element)[] ? pulumi.Input<Element>[] : T;
