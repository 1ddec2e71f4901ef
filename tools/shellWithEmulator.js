const { quoted } = require("./quoted");

/**
 * Returns the command from the README that opens a shell with an emulator in a folder.
 * @param {string} folder
 */
function shellWithEmulator(folder) {
  return `npx pulumi-serverless-gpu emulator exec -- npm run shell ${quoted(folder)}`;
}

module.exports = { shellWithEmulator };
