import { buffer } from "node:stream/consumers";
import { decodeText, readTextFile } from "../readTextFile";
import { type StackFlag, stackFlag } from "../stack";
import { printJson } from "../terminal";
import { checkConnection } from "./checkConnection";
import { type CheckFlags, isRehearsal } from "./checkFlags";
import { judge, type Review } from "./judge";
import { writePage } from "./page";
import { readPreview } from "./preview";
import { pulumiIn, reasonOf, stopOnSignals } from "./rehearsal/engine";
import { rehearse } from "./rehearsal/rehearsal";
import { lastFailedUp } from "./rejected";
import { jsonOf, markdownOf, type Report, textOf } from "./report";
import { verdictOf } from "./verdict";

/** With streaming, the engine prints events instead of a preview. */
const ENGINE = { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "false", PULUMI_SKIP_UPDATE_CHECK: "true" };
const PREVIEW_TIMEOUT_MS = 300_000;

/**
 * Prints the verdict about a change. Returns the exit code: 4 for a danger, otherwise 3 for an
 * exceeded limit.
 * @param file a file containing the preview's JSON; `-` or `undefined` for standard input
 * @param version this package's version, for the JSON output
 */
export async function check(file: string | undefined, flags: CheckFlags, version: string): Promise<number> {
  const { review, rehearsal } = isRehearsal(flags)
    ? await rehearse({ ...flags, stack: flags.stack as string })
    : { review: await reviewed(file, flags) };
  const verdict = verdictOf(review, rehearsal, { isStrict: flags.strict === true, allow: flags.allow ?? [] });
  const report: Report = { verdict, review, rehearsal };
  if (flags.html !== undefined) writePage(flags.html, report);
  if (flags.json) printJson(jsonOf(report, version), 2);
  // Invisible characters were already escaped, before the cells were padded.
  else process.stdout.write(flags.markdown ? markdownOf(report) : textOf(report));
  return verdict.code;
}

async function reviewed(file: string | undefined, flags: CheckFlags): Promise<Review> {
  const text = await previewText(file, flags.stack);
  const failedUp = flags.stack === undefined ? undefined : await lastFailedUp(flags.stack);
  return judge(text, () => checkConnection(flags.stack), flags, { failedUp });
}

async function previewText(file: string | undefined, stack: StackFlag): Promise<string> {
  if (stack !== undefined) {
    const args = ["preview", "--json", "--show-sames", ...stackFlag(stack)];
    const ignoreSignals = stopOnSignals();
    try {
      const ended = await pulumiIn(process.cwd(), { ...process.env, ...ENGINE }, PREVIEW_TIMEOUT_MS)(args);
      if (ended.code === 0) return ended.stdout;
      // The JSON contains the reason.
      if (ended.stdout.startsWith("{")) readPreview(ended.stdout);
      throw new Error(`the preview of the program failed: ${reasonOf(ended)}`);
    } finally {
      ignoreSignals();
    }
  }
  return file === undefined || file === "-" ? decodeText(await buffer(process.stdin)) : readTextFile(file);
}
