// The parts of undici that the bundle of the handlers contains, imported from their own files. The
// files belong to the version in package-lock.json.
// @ts-expect-error: these files have no types.
const Dispatcher = require("undici/lib/dispatcher/dispatcher");

// undici's entry point gives dispatchers this method, which a proxy agent uses to open its tunnels.
// @ts-expect-error
Dispatcher.prototype.connect = require("undici/lib/api/api-connect");

module.exports = {
  // @ts-expect-error
  Agent: require("undici/lib/dispatcher/agent"),
  // @ts-expect-error
  EnvHttpProxyAgent: require("undici/lib/dispatcher/env-http-proxy-agent"),
  // @ts-expect-error
  Pool: require("undici/lib/dispatcher/pool"),
};
