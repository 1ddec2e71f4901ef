import { RUNPOD_ADDRESSES } from "../../../sdk/contract/limits";
import { literal, oneLine } from "../source";
import { OLD_SECRET, type OldResource } from "./oldResource";

/** Returns source code that reads a provider setting from the config. */
type ReadConfig = (name: string) => string;

/** Returns `true` if the old provider sends its requests to a service other than RunPod. */
export function isOtherService({ providerUrl }: OldResource): boolean {
  return providerUrl !== undefined && urlOf(providerUrl)?.origin !== RUNPOD_ADDRESSES.graphqlUrl;
}

/**
 * Returns the source code of an explicit provider. The provider sends the key only to the service
 * that the old provider used.
 */
export function providerSource(constant: string, name: string, old: OldResource, read: ReadConfig): string {
  const url = urlOf(old.providerUrl);
  const service = isOtherService(old)
    ? `  // The old provider's apiUrl. Check that the queue is at this host, too.
  graphqlUrl: ${url ? literal(url.href) : read("graphqlUrl")},
  queueUrl: ${url ? literal(url.origin) : read("queueUrl")},`
    : '  service: "runpod",';
  return `const ${constant} = new ServerlessGpuProvider(${literal(name)}, {
  apiKey: ${read("apiKey")},
${service}
});
`;
}

/** Returns the note about a provider for another service. */
export function providerNote(name: string): string {
  return `the old provider ${oneLine(name)} has an apiUrl that is not RunPod's: check graphqlUrl and queueUrl in the program`;
}

/**
 * Returns the URL if it contains nothing that may be secret, so that it can appear in a program.
 */
function urlOf(text: OldResource["providerUrl"]): URL | undefined {
  if (text === undefined || text === OLD_SECRET || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username || url.password || url.search || url.hash ? undefined : url;
}
