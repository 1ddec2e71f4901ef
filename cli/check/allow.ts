import { InvalidArgumentError } from "commander";
import { FINDINGS, type Finding } from "./finding";

/** A danger that the user accepts. */
export interface Allowed {
  /** As it was given. */
  readonly text: string;
  readonly accepts: (finding: Finding) => boolean;
  /** The resource's name or URN; `undefined` for all of a kind. */
  readonly name: string | undefined;
}

const KINDS = Object.values(FINDINGS).flatMap(({ allow }) => allow ?? []);

/** Parses a value of `--allow`, such as `zero=llama`, and adds it to those before. */
export function parseAllow(text: string, before: readonly Allowed[] = []): readonly Allowed[] {
  const [, kind = "", name] = /^([a-z]+)(?:=(.+))?$/s.exec(text) ?? [];
  if (!KINDS.some((each) => each === kind))
    throw new InvalidArgumentError(`Give a danger, such as zero or zero=llama. The dangers are ${KINDS.join(", ")}.`);
  const accepts = ({ level, resource, urn }: Finding) =>
    FINDINGS[level].allow === kind && (name === undefined || name === urn || name === resource);
  return [...before, { text, name, accepts }];
}

/** Returns the findings that are not allowed, those that are, and values that allow nothing. */
export function splitAllowed(findings: readonly Finding[], allow: readonly Allowed[]) {
  const isAmbiguous = (each: Allowed) =>
    each.name !== undefined && new Set(findings.filter(each.accepts).map(({ urn }) => urn)).size > 1;
  const used = allow.filter((each) => !isAmbiguous(each));
  const accepted = findings.filter((finding) => used.some(({ accepts }) => accepts(finding)));
  const unused = allow.flatMap((each) => {
    if (isAmbiguous(each))
      return [`--allow ${each.text} allows nothing, because several resources have the name: give the URN`];
    return findings.some(each.accepts) ? [] : [`--allow ${each.text} allows nothing here`];
  });
  return { left: findings.filter((finding) => !accepted.includes(finding)), accepted, unused };
}
