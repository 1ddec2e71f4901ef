// Workers with a model that cannot add, so its smoke test fails.
module.exports = () => ({ text: "5", tokens: 1 });
