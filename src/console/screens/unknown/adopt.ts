import { wordsOf } from '../../api/api-error.ts';
import { forEachOf } from '../../api/for-each-of.ts';
import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { AdoptNamed, AdoptOne, type AdoptedDevice, type UnknownList } from './unknown-list.graphql.ts';

/** A device that sent and is not known. */
export type Unknown = DataOf<typeof UnknownList>['unknownDevices'][number];

/** What became of one: the device, or why there is none. */
export interface Outcome {
  identifier: string;
  device: AdoptedDevice | null;
  error: string | null;
}

interface Wish {
  /** The product of those that networks sent. */
  productId: string;
  plan: string;
  /** The name of a single one; null: its identifier. */
  name: string | null;
}

/** Maximum devices of one request. */
const AT_ONCE = 50;

/**
 * Makes devices of them; tells of each. Those that a webhook named go into its product, the calls of one product
 * together; those of networks one by one, so that one that fails holds up no other.
 */
export async function adopt(
  chosen: readonly Unknown[],
  { productId, plan, name }: Wish,
  tell: (outcome: Outcome) => void,
): Promise<void> {
  const one = async (unknown: Unknown): Promise<void> => {
    const wanted = { id: unknown.id, productId: unknown.productId ?? productId, plan, name };
    await outcomesOf([unknown], async () => [(await request(AdoptOne, wanted)).adoptUnknownDevice], tell);
  };
  if (chosen.length === 1) return forEachOf(chosen, one);
  for (const product of new Set(chosen.map((unknown) => unknown.productId))) {
    const devices = chosen.filter((unknown) => unknown.productId === product);
    if (product === null) await forEachOf(devices, one);
    else
      for (let from = 0; from < devices.length; from += AT_ONCE) {
        const piece = devices.slice(from, from + AT_ONCE);
        const wanted = { ids: piece.map(({ id }) => id), productId: product, plan };
        await outcomesOf(piece, async () => (await request(AdoptNamed, wanted)).adoptUnknownDevices, tell);
      }
  }
}

async function outcomesOf(
  piece: readonly Unknown[],
  work: () => Promise<AdoptedDevice[]>,
  tell: (outcome: Outcome) => void,
): Promise<void> {
  try {
    const devices = await work();
    for (const [at, { identifier }] of piece.entries()) tell({ identifier, device: devices[at] ?? null, error: null });
  } catch (error) {
    for (const { identifier } of piece) tell({ identifier, device: null, error: wordsOf(error) });
  }
}
