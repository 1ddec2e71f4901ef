import { messages, type Text } from "./messages";

/** The folders whose messages give the advice that the plays follow. */
const FOLDERS =
  /^(?:provider|plugin|sdk\/diagnosis|cli\/(?:adopt|doctor|explain|orphans|rollback)|cli\/leftBehind\.ts)(?:\/|:)/;
/** Help texts, and code that the commands or resources write. */
const NO_MESSAGE = /(?:Flags|^cli\/\w+\/\w+Command)\.ts:|^provider\/(?:dynamic\/program\/refuse|resourceTypes)/;

const VERBS =
  "add adopt allow apply call change check choose clear compare copy correct create declare decrypt delete drop export " +
  "find fix give import increase install keep look lower make move name pass point put raise read recreate release remove " +
  "rename repeat replace restore roll run select send set start stop switch synchronize try update upgrade use wait write";
const IMPERATIVE = new RegExp(`^(?:${VERBS.replaceAll(" ", "|")})\\b(?! ?(?:[{*]|(?:is|are|was|has|of|or)\\b))`, "i");
/** What may come before the verb of an instruction. */
const BEFORE = /^(?:then |otherwise, |(?:if|once|to|before|until|for|when|in|after|only after|so)\b[^,]*, (?:then )?)/i;

/** Returns the sentences that tell the user to do something, with `VALUE` for what is computed. */
function adviceIn({ place, text }: Text): Text[] {
  if (!FOLDERS.test(place) || NO_MESSAGE.test(place) || !/\S\s+\S/.test(text)) return [];
  return text
    .split(/(?<=[.;])\s+|\n/)
    .map((sentence) => sentence.replace(/^\/\/\s*(?:\d\. )?/, "").trim())
    .filter(
      (sentence) =>
        sentence.includes(" ") && sentence.split(/: (?!\[)/).some((part) => IMPERATIVE.test(part.replace(BEFORE, ""))),
    )
    .map((sentence) => ({ place, text: sentence }));
}

/** Returns every piece of advice in the source of the provider and of the commands that advise. */
export function advice(): Text[] {
  return messages().flatMap(adviceIn);
}
