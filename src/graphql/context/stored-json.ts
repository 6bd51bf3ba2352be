/**
 * JSON as a database has it, in an answer: a large answer is written with its text, a small one parses it then. Parsed,
 * lists of little take ten times as much memory as their text.
 */
export class StoredJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text) as unknown;
  }
}
