// Workers with the first model.
module.exports = () => ({ text: "4", tokens: 1 });
