/**
 * Creates an element. Strings become text, never markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, unknown>>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const created = Object.assign(document.createElement(tag), properties);
  created.append(...children);
  return created;
}

/**
 * Returns the element of the page with an id.
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element "${id}".`);
  return /** @type {Kind} */ (found);
}

/**
 * Sets an element's text only if it differs, which avoids a new layout.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {string} text @param {() => void} onclick @param {string} [title] */
export function button(text, onclick, title = "") {
  return element("button", { type: "button", onclick, title }, text);
}

/** @param {string} text @param {string} kind @param {string} [title] */
export function badge(text, kind = "", title = "") {
  return element("span", { className: `badge ${kind}`, title }, text);
}

/**
 * Puts rows into a table, the newest first. Rows that are already in place are left alone.
 * @param {HTMLElement} table
 * @param {Iterable<HTMLElement>} rows the newest last
 */
export function placeRows(table, rows) {
  /** @type {Element | null} */
  let below = null;
  for (const row of rows) {
    if (!row.isConnected || row.nextElementSibling !== below) table.insertBefore(row, below);
    below = row;
  }
}

/**
 * Opens something with a click anywhere on a row. For the keyboard, the row needs a button as well.
 * @param {HTMLElement} row
 * @param {() => void} open
 */
export function openOnClick(row, open) {
  row.classList.add("opens");
  row.addEventListener("click", ({ target }) => {
    const isButton = target instanceof Element && target.closest("button") !== null;
    if (!isButton && getSelection()?.isCollapsed !== false) open();
  });
}

/**
 * Shows what would fill an empty table.
 * @param {string} id of the paragraph
 * @param {boolean} isEmpty
 * @param {boolean} isFiltered
 * @param {string} hint
 */
export function showEmpty(id, isEmpty, isFiltered, hint) {
  const paragraph = byId(id);
  paragraph.hidden = !isEmpty;
  setText(paragraph, isFiltered ? "None match the filter." : hint);
}

/**
 * Opens a dialog, which is removed when it is closed.
 * @param {string} title
 * @param {(Node | string)[]} children
 */
export function openDialog(title, ...children) {
  const heading = element("h2", {}, title);
  const dialog = element("dialog", { ariaLabel: title }, heading, ...children);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
