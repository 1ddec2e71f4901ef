// A dynamic provider that does nothing: the cost of the engine and Pulumi's own process without us.
let created = 0;

/** @typedef {Record<string, unknown>} Properties */

module.exports = {
  async configure() {},
  async check(/** @type {Properties} */ _olds, /** @type {Properties} */ news) {
    return { inputs: news };
  },
  async diff() {
    // The engine then compares the inputs itself.
    return {};
  },
  async create(/** @type {Properties} */ inputs) {
    created++;
    return { id: `endpoint-${created}`, outs: inputs };
  },
  async read(/** @type {string} */ id, /** @type {Properties} */ props) {
    return { id, props };
  },
  async update(/** @type {string} */ _id, /** @type {Properties} */ _olds, /** @type {Properties} */ news) {
    return { outs: news };
  },
  async delete() {},
};
