// What the pictures in docs/ and bench/ have in common. Those of the command line are in
// cli/forecast/report/charts.ts.

/**
 * Returns a string without characters that have a meaning in XML.
 * @param {string} text
 */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * Returns an SVG picture, which says in words what it shows.
 * @param {{ width: number, height: number, title: string, description: string, style: string,
 * attributes?: string }} facts
 * @param {readonly string[]} elements
 */
function svg({ width, height, title, description, style, attributes = "" }, elements) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"${attributes}>`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(description)}</desc>`,
    `<style>\n${style.trim()}\n</style>`,
    ...elements,
    "</svg>",
    "",
  ].join("\n");
}

module.exports = { escaped, svg };
