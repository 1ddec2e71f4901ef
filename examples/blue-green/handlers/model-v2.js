// Workers with the next model.
module.exports = () => ({ text: "4", tokens: 1 });
