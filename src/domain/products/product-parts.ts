import type { EntityManager } from '@mikro-orm/sql';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import { FieldSchema, type FieldWords, type Meant } from '../entities/field.ts';
import { type Product } from '../entities/product.ts';
import { ProductAnswerSchema } from '../entities/product-answer.ts';
import { productAnswers } from '../ingest-cache/product-rows.ts';
import { requireSameInput, type SealedParts, sealParts } from '../keys/same-input.ts';
import type { CheckedProduct } from './new-product.ts';
import { must } from '../../must.ts';

/** The state that an input asks for, for `requireSameInput`; its workspace and key are no parts. */
export function partsOfInput({ fields, answers, decoder, ...product }: CheckedProduct): SealedParts {
  return sealParts({
    ...partsOfRow(product),
    ...Object.fromEntries(fields.map((field) => [`fields.${field.identifier}`, partOfField(field)])),
    answer200: answers.always200 === true ? true : null,
    webhookAnswer: answers.webhook ?? null,
    decoder,
  });
}

/** CONFLICT unless the input describes the product with its key, as it was made or as it is (`requireSameInput`). */
export async function requireSameProduct(em: EntityManager, product: Product, asked: CheckedProduct): Promise<void> {
  await em.populate(product, ['createdFrom']);
  await requireSameInput({
    what: 'product',
    id: product.id,
    name: product.name,
    key: must(product.authorKey),
    asked: partsOfInput(asked),
    created: product.createdFrom ?? null,
    present: () => presentParts(em, product),
  });
}

async function presentParts(em: EntityManager, product: Product): Promise<SealedParts> {
  const { key, activeVersion } = product;
  await em.populate(product, ['dashboard']);
  const fields = await em.find(FieldSchema, { product: key }, { orderBy: { key: 'asc' } });
  const answers = productAnswers(await em.findOne(ProductAnswerSchema, { product: key }));
  const active =
    activeVersion == null ? null : await em.findOne(DecoderVersionSchema, { product: key, version: activeVersion });
  return sealParts({
    ...partsOfRow(product),
    ...Object.fromEntries(fields.map((field) => [`fields.${field.identifier}`, partOfField(field)])),
    answer200: answers.always200 ? true : null,
    webhookAnswer: answers.webhook,
    decoder: active?.source ?? null,
  });
}

type RowParts = Pick<Product, 'name' | 'deviceType' | 'dashboard' | 'ignoreZeroPlaces'> &
  Partial<Pick<Product, 'offlineAfterSeconds' | 'timeZone'>>;

function partsOfRow({ name, deviceType, dashboard, offlineAfterSeconds, ignoreZeroPlaces, timeZone }: RowParts) {
  return {
    name,
    deviceType,
    dashboard,
    offlineAfterSeconds: offlineAfterSeconds ?? null,
    ignoreZeroPlaces: ignoreZeroPlaces ? true : null,
    timeZone: timeZone ?? null,
  };
}

/** A field without what has its default. */
function partOfField({
  type,
  name,
  unit,
  description,
  role,
  meaning,
  overflowAt,
  display,
}: FieldWords & Meant & { type: string }) {
  const parts = {
    type,
    name,
    unit,
    description,
    role,
    overflowAt,
    display,
    meaning: meaning === 'GAUGE' ? null : meaning,
  };
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value != null));
}
