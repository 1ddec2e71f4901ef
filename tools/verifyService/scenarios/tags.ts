import type { OwnEndpoint, TestedReply } from "../testedService";
import { type FindingOf, type Scenario, UNKNOWN_ID } from "./scenario";

/** The key of the run's tag, which is free of charge. */
const KEY = "serverless-gpu-verify";

const BODY = `{"key": "${KEY}", "value": "", "resources": [{"id": "{endpoint}", "type": "SERVERLESS_ENDPOINT"}]}`;

const holds = (reply: TestedReply | undefined, text: string) =>
  reply?.status === 200 && JSON.stringify(reply.body ?? null).includes(text);

/** Returns which calls reported that the endpoint has the tag, and their statuses. */
const carriers: FindingOf = (deleted, earlier, { id }: OwnEndpoint) => {
  const ofTag = ["shown", "included", "listed", "all"];
  const ofEndpoint = ["endpoint", "tagged"];
  const said = (names: readonly string[], text: string) =>
    names.map((name) => [name, { status: earlier[name]?.status, says: holds(earlier[name], text) }]);
  return {
    created: earlier.tag?.status,
    deleted: deleted.status,
    ...Object.fromEntries([...said(ofTag, id), ...said(ofEndpoint, KEY)]),
  };
};

/**
 * Tests which call shows what a tag is attached to. The emulator has no tags, so any service with
 * tags differs in this row, and the transcript shows how.
 */
export const tags: Scenario = {
  name: "tags",
  steps: [
    { send: { v2: "/tags", method: "POST", body: BODY, once: true }, as: "tag", idOrElse: UNKNOWN_ID },
    { send: { v2: "/tags/{tag}" }, as: "shown" },
    { send: { v2: "/tags/{tag}?include=resources" }, as: "included" },
    { send: { v2: "/tags/{tag}/resources" }, as: "listed" },
    { send: { v2: "/tags?include=resources" }, as: "all" },
    { send: { v2: "/serverless/{endpoint}" }, as: "endpoint" },
    { send: { v2: "/serverless/{endpoint}?include=tags" }, as: "tagged" },
    { send: { v2: "/tags/{tag}", method: "DELETE" }, findings: [["v2.tags", carriers]] },
  ],
};
