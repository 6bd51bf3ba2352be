import type { DecoderEngine } from '../domain/decoders/decoder-engine.ts';
import type { Metrics } from './metrics.ts';

/** Wraps an engine to count its runs by outcome. */
export function measuredEngine(engine: DecoderEngine, metrics: Metrics): DecoderEngine {
  return {
    check: (source, workspaceId, tokenId) => engine.check(source, workspaceId, tokenId),
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
