import type { DecoderEngine } from '../domain/decoders/decoder-engine.ts';
import type { MeasurementStore, Receipt } from '../domain/measurements/store.ts';
import type { Metrics } from './metrics.ts';

/** The same store, whose commits are counted. */
export function measuredStore<Store extends MeasurementStore>(store: Store, metrics: Metrics): Store {
  const append: MeasurementStore['append'] = async (receipt: Receipt) => {
    const from = performance.now();
    try {
      const place = await store.append(receipt);
      let values = 0;
      for (const batch of receipt.batches) values += batch.values.length;
      metrics.committed(values, (performance.now() - from) / 1000);
      return place;
    } catch (error) {
      metrics.commitFailed();
      throw error;
    }
  };
  return new Proxy(store, { get: (target, name) => (name === 'append' ? append : Reflect.get(target, name, target)) });
}

/** The same engine, whose runs are counted by outcome. */
export function measuredEngine(engine: DecoderEngine, metrics: Metrics): DecoderEngine {
  return {
    check: (source) => engine.check(source),
    statistics: (productId) => engine.statistics(productId),
    ready: () => engine.ready(),
    stop: () => engine.stop(),
    run: async (job) => {
      try {
        const result = await engine.run(job);
        metrics.decoderRun(result.error?.kind ?? 'ok', result.durationMs / 1000);
        return result;
      } catch (error) {
        metrics.decoderRun('refused', 0);
        throw error;
      }
    },
  };
}
