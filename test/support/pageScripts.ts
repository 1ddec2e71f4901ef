/** A script that the page runs to measure the longest time between two frames. */
export const WATCH_FRAMES = `
  let last = performance.now();
  window.longestMs = 0;
  (function next() {
    window.longestMs = Math.max(window.longestMs, performance.now() - last);
    last = performance.now();
    requestAnimationFrame(next);
  })();
`;

/**
 * A script that returns the labels of the page with a contrast below 4.5. Disabled buttons are left
 * out.
 */
export const PALE_LABELS = `(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const color = (style) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = style;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => rgb.map((each) => linear(each / 255)).reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
  const above = (element) => [...(function* () { for (let each = element; each; each = each.parentElement) yield getComputedStyle(each); })()];
  const pale = [];
  for (const element of document.querySelectorAll("body *:not(:disabled)")) {
    if (!element.offsetParent || ![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const styles = above(element);
    const back = styles.map((style) => color(style.backgroundColor)).find((each) => each[3] > 200) ?? [255, 255, 255];
    const opacity = styles.reduce((product, style) => product * Number(style.opacity), 1);
    const front = color(styles[0].color).slice(0, 3).map((each, index) => each * opacity + back[index] * (1 - opacity));
    const [low, high] = [luminance(front), luminance(back.slice(0, 3))].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) pale.push(element.className + " " + element.textContent.slice(0, 20) + " " + ratio.toFixed(2));
  }
  return pale;
})()`;
