// The parts of undici that the bundle of the handlers contains. By their files, which belong to the version in
// package-lock.json.
module.exports = {
  // @ts-expect-error: these files have no types.
  Agent: require("undici/lib/dispatcher/agent"),
  // @ts-expect-error
  EnvHttpProxyAgent: require("undici/lib/dispatcher/env-http-proxy-agent"),
  // @ts-expect-error
  Pool: require("undici/lib/dispatcher/pool"),
};
