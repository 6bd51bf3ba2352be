import type { LatestQuery } from '../../domain/ports/store.ts';
import type { LatestMemory, LookedThrough } from './latest-memory.ts';

/** How far a search came with a device: as `LookedThrough` of each of the fields. */
interface DeviceProgress {
  deviceKey: number;
  position: string;
  fieldKeys: number[];
  upTo: number[];
}

/** What a slice of a search hands to the next one. */
export interface SearchProgress {
  /** In which of a thread's memory it was learned. */
  era: string;
  /** No more than were searched at once. */
  devices: DeviceProgress[];
}

type Searched = Pick<LatestQuery, 'deviceKey' | 'tenant'>;

/** What is known of a field, and whether this very search learned it. */
interface KnownField extends LookedThrough {
  fieldKey: number;
  isOwn: boolean;
}

/**
 * What a search for newest values knows: what its slices before this one have learned, which nobody else's searches push
 * out, and what the thread remembers of other operations.
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

  /** Those of the fields of which something is known. */
  known(deviceKey: number, fieldKeys: Iterable<number>): KnownField[] {
    const own = this.#own.get(deviceKey);
    const places = new Map(own?.fieldKeys.map((fieldKey, at) => [fieldKey, at]));
    return [...fieldKeys].flatMap((fieldKey): KnownField[] => {
      const at = places.get(fieldKey);
      if (own && at !== undefined) return [{ fieldKey, position: own.position, upTo: own.upTo[at]!, isOwn: true }];
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

  /** Of the devices with which the search goes on. */
  progress(deviceKeys: Iterable<number>): SearchProgress {
    const devices = [...new Set(deviceKeys)].flatMap((deviceKey) => this.#own.get(deviceKey) ?? []);
    return { era: this.#era, devices };
  }
}
