// The worker program of the endpoint "app".
module.exports = { command: "node server.js", cwd: ".." };
