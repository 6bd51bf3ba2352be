import { insertDecoderVersion } from '../decoders/new-decoder-version.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { type Columns, insertRows } from '../sql/bulk-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { uuidV7 } from '../text/uuid.ts';
import { decoderOf, type DecoderTree } from './product-plan.ts';
import { isSame, type Tree } from './shape.ts';
import type { Writing, WrittenProduct } from './write-products.ts';
import { must } from '../../must.ts';

const VERSION: Columns = {
  product_key: 'integer',
  version: 'integer',
  author: 'text',
  created_at: 'bigint',
  source: 'text',
};
const EXAMPLE: Columns = {
  id: 'text',
  product_key: 'integer',
  name: 'text',
  created_at: 'bigint',
  request: 'jsonb',
  expected: 'jsonb',
};

/** Saves the sources and examples of products: a changed source is a new version, which is active. */
export async function writeDecoders(writing: Writing, products: readonly WrittenProduct[]): Promise<void> {
  const { em, dialect, author, now } = writing;
  const slices = new TransactionSlices();
  const first: unknown[][] = [];
  const examples: unknown[][] = [];
  for (const { key, isNew, draft } of products) {
    const [is, target] = [decoderOf(draft.is), decoderOf(draft.target)];
    if (isSame(is, target)) continue;
    const { source } = target;
    if (isNew && source !== undefined) first.push([key, 1, author, now, source]);
    else if (source === undefined) {
      if (is.source !== undefined)
        await em.execute('update product set active_version = null where "key" = ?', [key], 'run');
    } else if (source !== is.source) await insertDecoderVersion(em, key, { source, note: null, author }, now);
    await removeExamples(writing, key, is, target);
    examples.push(...(await changedExamples(writing, { key, is, target, wanted: draft.wanted })));
    await slices.next();
  }
  await insertRows(em, dialect, { table: 'decoder_version', columns: VERSION, rows: first });
  await insertRows(em, dialect, { table: 'decoder_example', columns: EXAMPLE, rows: examples });
}

async function removeExamples({ em }: Writing, key: number, is: DecoderTree, target: DecoderTree): Promise<void> {
  const kept = new Set((target.examples ?? []).map(({ name }) => name));
  const gone = (is.examples ?? []).map(({ name }) => name).filter((name) => !kept.has(name));
  if (gone.length === 0) return;
  await em.execute(
    `delete from decoder_example where product_key = ? and name in (${placeholders(gone)})`,
    [key, ...gone],
    'run',
  );
}

interface ExamplesOf {
  key: number;
  is: DecoderTree;
  target: DecoderTree;
  wanted: Tree | undefined;
}

/** Updates the examples that change, and returns the rows of new ones, in the order of the document. */
async function changedExamples({ em, now }: Writing, { key, is, target, wanted }: ExamplesOf): Promise<unknown[][]> {
  const before = new Map((is.examples ?? []).map((example) => [example.name, example]));
  const after = new Map((target.examples ?? []).map((example) => [example.name, example]));
  const added: unknown[][] = [];
  for (const { name } of decoderOf(wanted).examples ?? []) {
    const example = must(after.get(name));
    const [request, expected] = [JSON.stringify(example.request), JSON.stringify(example.expected)];
    if (!before.has(name)) added.push([uuidV7(), key, name, now, request, expected]);
    else if (!isSame(before.get(name), example))
      await em.execute(
        'update decoder_example set request = ?, expected = ? where product_key = ? and name = ?',
        [request, expected, key, name],
        'run',
      );
  }
  return added;
}
