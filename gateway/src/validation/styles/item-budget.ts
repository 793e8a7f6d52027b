/** Limits the parts that a text may be split into: an item costs a hundred times as much as its delimiter. */

/** Items of the lists and objects of one form, or of one parameter. */
export const MOST_ITEMS = 10_000;

export class ItemBudget {
  #left = MOST_ITEMS;

  /** Returns null if there are more parts than are left; the text is read no further then. */
  split(text: string, delimiter: string | RegExp): readonly string[] | null {
    const parts = text === '' ? [] : text.split(delimiter, this.#left + 1);
    this.#left -= parts.length;
    return this.isExceeded ? null : parts;
  }

  get isExceeded(): boolean {
    return this.#left < 0;
  }
}
