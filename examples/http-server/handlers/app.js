// The program of the workers of the endpoint "app".
module.exports = { command: "node server.js", cwd: ".." };
