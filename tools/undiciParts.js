// The parts of undici that the bundle of the handlers contains. By their files, which belong to the version in
// package-lock.json.
module.exports = {
  Agent: require("undici/lib/dispatcher/agent"),
  EnvHttpProxyAgent: require("undici/lib/dispatcher/env-http-proxy-agent"),
  Pool: require("undici/lib/dispatcher/pool"),
};
