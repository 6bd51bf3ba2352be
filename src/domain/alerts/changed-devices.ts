import type { Change, Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';
import { piecesOf } from '../sql/pieces.ts';

/** Ids per statement. */
const AT_ONCE = 500;

/**
 * Devices that were changed since, so that other rules may watch them: tags, or another product. What is missed, as
 * nothing of it outlives the process, is found by the alerts that are open.
 */
export class ChangedDevices {
  readonly #database: Database;
  #listener = (): void => {};
  #ids = new Set<string>();
  /** Those at hand: forgotten once the next ones are asked for. */
  #taken: string[] = [];
  /** Some may have been missed. */
  #areMissed = true;

  constructor(database: Database, cluster: Pick<Cluster, 'onChanged'>) {
    this.#database = database;
    cluster.onChanged((changes) => changes.forEach((change) => this.#follow(change)));
  }

  /** Calls the listener, of whom there is one, when devices have changed. */
  onChanged(listener: () => void): void {
    this.#listener = listener;
  }

  #follow(change: Change): void {
    if (change.kind === 'everything') this.#areMissed = true;
    else if (change.kind === 'devices') for (const id of change.ids) this.#ids.add(id);
    else return;
    this.#listener();
  }

  /** Keys of changed devices that rules watch or watched; those at hand come again when the reader gives up. */
  async *take(): AsyncGenerator<number[]> {
    for (const id of this.#taken.splice(0)) this.#ids.add(id);
    if (this.#areMissed) {
      for (const keys of piecesOf(await this.#withAlerts())) yield keys;
      this.#areMissed = false;
    }
    while (this.#ids.size > 0) {
      this.#taken = [...this.#ids].slice(0, AT_ONCE);
      for (const id of this.#taken) this.#ids.delete(id);
      const keys = await this.#watched(this.#taken);
      if (keys.length > 0) yield keys;
      this.#taken = [];
    }
  }

  /** Nothing watches any device. */
  forget(): void {
    this.#ids.clear();
    this.#areMissed = true;
  }

  async #withAlerts(): Promise<number[]> {
    const { dialect } = this.#database;
    const rows = await this.#database
      .read()
      .execute<{ key: number }[]>('select distinct device_key as "key" from alert where is_open = ?', [
        dialect === 'sqlite' ? 1 : true,
      ]);
    return rows.map(({ key }) => key);
  }

  async #watched(ids: readonly string[]): Promise<number[]> {
    const rows = await this.#database.read().execute<{ key: number }[]>(
      `select d."key" from device d where d.id in (${placeholders(ids)}) and
         (exists (select 1 from rule r where r.product_key = d.product_key)
          or exists (select 1 from rule_state s where s.device_key = d."key"))`,
      [...ids],
    );
    return rows.map(({ key }) => key);
  }
}
