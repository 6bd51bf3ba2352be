import type { Database } from '../ports/database.ts';

/** Figures of alerts, for metrics. */
export class AlertFigures {
  readonly #database: Database;
  readonly #rules: { readonly behindMs: number };
  #firing = 0;

  constructor(database: Database, rules: { readonly behindMs: number }) {
    this.#database = database;
    this.#rules = rules;
  }

  /** Alerts that have fired and are not over, on all nodes, as of the last count. */
  get firing(): number {
    return this.#firing;
  }

  /** How long the value that was judged last on this node had waited for it. */
  get behindSeconds(): number {
    return this.#rules.behindMs / 1_000;
  }

  async measure(): Promise<void> {
    const [row] = await this.#database
      .read()
      .execute<{ firing: number | string }[]>(
        "select count(*) as firing from alert where is_open = ? and state <> 'PENDING'",
        [this.#database.dialect === 'sqlite' ? 1 : true],
      );
    this.#firing = Number(row!.firing);
  }
}
