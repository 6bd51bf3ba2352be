import type { LatestQuery } from '../../domain/ports/store.ts';
import type { LatestMemory, LookedThrough } from './latest-memory.ts';
import { must } from '../../must.ts';

/** Progress of a search with a device: a `LookedThrough` of each of the fields. */
interface DeviceProgress {
  deviceKey: number;
  position: string;
  fieldKeys: number[];
  upTo: number[];
}

/** Hands the progress of a slice to the next one. */
export interface SearchProgress {
  /** The era of the thread's memory in which it was learned. */
  era: string;
  /** Only the devices that were searched at once. */
  devices: DeviceProgress[];
}

type Searched = Pick<LatestQuery, 'deviceKey' | 'tenant'>;

/** Knowledge about a field, and whether this very search learned it. */
interface KnownField extends LookedThrough {
  fieldKey: number;
  isOwn: boolean;
}

/**
 * Knowledge of a search for newest values: its own from earlier slices, which no other search pushes out, and the
 * thread's memory of other operations.
 */
export class SearchMemory {
  readonly #shared: LatestMemory;
  readonly #era: string;
  readonly #own: Map<number, DeviceProgress>;

  constructor(shared: LatestMemory, progress?: SearchProgress) {
    this.#shared = shared;
    this.#era = shared.era;
    const devices = progress?.era === this.#era ? progress.devices : [];
    this.#own = new Map(devices.map((device) => [device.deviceKey, device]));
  }

  /** Whether an earlier slice has begun with a device. */
  get goesOn(): boolean {
    return this.#own.size > 0;
  }

  /** The fields of which something is known. */
  known(deviceKey: number, fieldKeys: Iterable<number>): KnownField[] {
    const own = this.#own.get(deviceKey);
    const places = new Map(own?.fieldKeys.map((fieldKey, at) => [fieldKey, at]));
    return [...fieldKeys].flatMap((fieldKey): KnownField[] => {
      const at = places.get(fieldKey);
      if (own && at !== undefined) return [{ fieldKey, position: own.position, upTo: must(own.upTo[at]), isOwn: true }];
      const shared = this.#shared.get(deviceKey, fieldKey);
      return shared ? [{ fieldKey, ...shared, isOwn: false }] : [];
    });
  }

  /**
   * `upTo`: by field, of all that were searched; nothing comes of it if the thread's memory was cleared meanwhile. `isPart`:
   * the position lies before the end of the snapshot, so it is for the next slice alone: others may see an older one.
   */
  remember({ deviceKey, tenant }: Searched, position: string, upTo: Map<number, number>, isPart = false): void {
    if (this.#shared.era !== this.#era) return;
    this.#own.set(deviceKey, { deviceKey, position, fieldKeys: [...upTo.keys()], upTo: [...upTo.values()] });
    if (isPart) return;
    for (const [fieldKey, at] of upTo) this.#shared.set(deviceKey, fieldKey, { position, upTo: at }, tenant);
  }

  /** Progress with the devices that the search goes on with. */
  progress(deviceKeys: Iterable<number>): SearchProgress {
    const devices = [...new Set(deviceKeys)].flatMap((deviceKey) => this.#own.get(deviceKey) ?? []);
    return { era: this.#era, devices };
  }
}
