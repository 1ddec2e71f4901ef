// Import undici by its file, because Bun replaces the module "undici" with its own implementation,
// which does not send anything.
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici/index.js";
import { SecretText } from "../errors/secretText";
import { PROXY_STATUS, proxyFor } from "./proxy";

/*
 * Loaded when a client is created: undici takes longer to load than all of this package.
 */

/**
 * The maximum time that a proxy may take to open a tunnel, in milliseconds. A request that waits
 * for a tunnel cannot be aborted.
 */
const TUNNEL_TIMEOUT_MS = 30_000;

const AGENT_OPTIONS = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } };

/** Creates connections without a proxy, for a server on this machine. */
export function createDirectAgent(): Dispatcher {
  return new Agent(AGENT_OPTIONS);
}

/**
 * Creates the connections of one client. They use the proxies named in the environment. If no proxy
 * is named, the connections are direct, which is faster. undici's own timeouts are disabled,
 * because each attempt is ended by its signal.
 * @throws ConfigurationError if an environment variable is not the URL of a proxy
 */
export function createAgent(): Dispatcher {
  const http = proxyFor("http:");
  const https = proxyFor("https:");
  if (!http && !https) return createDirectAgent();
  for (const proxy of [http, https]) if (proxy) hideCredentials(proxy.url);
  return new EnvHttpProxyAgent({
    ...AGENT_OPTIONS,
    // An empty string means no proxy. It also keeps undici from reading the environment.
    httpProxy: http?.url.href ?? "",
    httpsProxy: https?.url.href ?? "",
    clientFactory: (origin, poolOptions) =>
      new ProxyConnections(origin, { ...poolOptions, headersTimeout: TUNNEL_TIMEOUT_MS }),
  });
}

/** Redacts the password, and the header that contains it, in all messages. */
function hideCredentials({ username, password }: URL): void {
  if (password === "") return;
  const decoded = [username, password].map(decodePart);
  for (const text of [password, decoded[1] ?? "", Buffer.from(decoded.join(":")).toString("base64")])
    new SecretText(text);
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The connections to a proxy. Without this class, if a proxy closed the connection, undici would
 * retry immediately and indefinitely.
 */
class ProxyConnections extends Pool {
  override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): void;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback?: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): Promise<Dispatcher.ConnectData> | undefined {
    if (callback) {
      super.connect(options, callback);
      return undefined;
    }
    return super.connect(options).then(refuseOtherStatus, (cause: Error) => {
      const closed = "code" in cause && cause.code === "UND_ERR_SOCKET";
      throw closed
        ? Object.assign(new Error("the proxy closed the connection", { cause }), { code: "ECONNRESET" })
        : cause;
    });
  }
}

function refuseOtherStatus(data: Dispatcher.ConnectData): Dispatcher.ConnectData {
  if (data.statusCode === 200) return data;
  data.socket.on("error", () => {}).destroy();
  const error = new Error(`the proxy responded with ${data.statusCode}`);
  throw Object.assign(error, { code: `${PROXY_STATUS}${data.statusCode}` });
}
