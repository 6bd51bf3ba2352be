import { type Batch, unpublished } from '../ports/store.ts';
import type { RuleBook } from './rule-book.ts';

/**
 * The batches of a file or a replay, so that they change no state of a rule (CONTRACT 12): those of products with rules
 * are not published.
 */
export async function unjudged(
  book: Pick<RuleBook, 'present'>,
  batches: readonly { batch: Batch; productKey: number }[],
): Promise<Batch[]> {
  const rules = await book.present();
  return batches.map(({ batch, productKey }) =>
    rules.has(productKey) ? { ...batch, receivedAt: unpublished(batch.receivedAt) } : batch,
  );
}
