/** YAML off the event loop: reading a megabyte of it takes a second. */
export interface Yaml {
  /**
   * The value of a YAML 1.2 text, as JSON has it; BAD_USER_INPUT naming line and column of the first mistake. Aliases,
   * tags and several documents are mistakes, as is what takes too much memory or time.
   */
  read(text: string): Promise<unknown>;
  /** YAML of a JSON text: blocks, long texts as they are, line by line. */
  write(json: string): Promise<string>;
}
