import type { DeviceCache } from '../devices/device-cache.ts';
import type { History } from '../history/history.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { readStates } from './alert-rows.ts';
import { DeviceJudging } from './judging.ts';
import type { Rules } from './rule-book.ts';

interface JudgingsDeps {
  database: Database;
  store: Pick<MeasurementStore, 'series' | 'lastHeard'>;
  history: History;
  ingestCache: IngestCache;
  devices: DeviceCache;
  now: () => number;
}

/** Brings together devices, the rules that watch them, and their states. */
export class Judgings {
  readonly #deps: JudgingsDeps;

  constructor(deps: JudgingsDeps) {
    this.#deps = deps;
  }

  /**
   * Key → judging of the devices that some rule watches, or did; `ofWatched`: those of products without rules are left
   * out, whatever watched them before they were moved there.
   */
  async of(
    deviceKeys: readonly number[],
    rules: Rules,
    { ofWatched = false }: { ofWatched?: boolean } = {},
  ): Promise<Map<number, DeviceJudging>> {
    const { devices, ingestCache, database } = this.#deps;
    const found = (await Promise.all(deviceKeys.map((key) => devices.get(key)))).filter((device) => device !== null);
    const watched = ofWatched ? found.filter((device) => rules.has(device.product.key)) : found;
    const states = await readStates(
      database.read(),
      watched.map(({ key }) => key),
    );
    const infos = await Promise.all(watched.map(({ id }) => ingestCache.device(id)));
    const judgings = new Map<number, DeviceJudging>();
    watched.forEach((device, at) => {
      const info = infos[at];
      const own = (rules.get(device.product.key) ?? []).filter(({ tags }) =>
        tags.every((tag) => device.tags.includes(tag)),
      );
      const before = states.get(device.key) ?? null;
      if (info == null || (own.length === 0 && before === null)) return;
      judgings.set(device.key, new DeviceJudging(this.#deps, { info, rules: own }, before));
    });
    return judgings;
  }
}
