// What is chosen, hovered, circled, coloured by: one value, and those who want to know of changes.

/**
 * @typedef {object} State
 * @property {boolean} solid three dimensions instead of two
 * @property {number[]} chosen of each space the row that is chosen, or -1
 * @property {string | null} asked a key without a point whose neighbours the server is asked for
 * @property {number[]} hovered of each space the row under the pointer, or -1
 * @property {number[][]} nearby of each space the rows listed as neighbours or answers
 * @property {(Uint8Array | null)[]} circled of each space a byte for each point, 1 inside the lasso
 * @property {string | null} question what the texts are searched for
 * @property {(Map<number, number> | null)[]} lit of each space the rows that answer it, with their ranks
 * @property {boolean} circling whether dragging draws a lasso
 * @property {string} metric
 * @property {string | null} colourBy the name of a field
 * @property {Set<string>} hidden labels of that field that are switched off
 * @property {string | null} alone the label that is pointed at
 */

/** @typedef {ReturnType<typeof createStore>} Store */

/** @param {State} state */
export function createStore(state) {
  const listeners = [];
  return {
    state,
    /** @param {Partial<State>} change */
    set(change) {
      const changed = Object.keys(change).filter((name) => state[name] !== change[name]);
      if (!changed.length) return;
      Object.assign(state, change);
      for (const listener of listeners) listener(new Set(changed));
    },
    /** @param {(changed: Set<string>) => void} listener */
    listen(listener) {
      listeners.push(listener);
    },
  };
}
