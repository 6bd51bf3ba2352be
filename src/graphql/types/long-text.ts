/** Price of a text that may have 64 KB and more: a page of 200 runs alone, so that few are in memory at once. */
export const LONG_TEXT = 10;
