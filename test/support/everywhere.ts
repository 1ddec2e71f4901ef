/** `true` for `npm run test:everywhere`, which plays whole cross products. */
export const IS_EVERYWHERE = process.env.EVERYWHERE === "true";
