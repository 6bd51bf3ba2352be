import type { EntityManager } from '@mikro-orm/sql';
import { badInput } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import { ProductAnswerSchema } from '../entities/product-answer.ts';
import { type ProductAnswers, productAnswers } from '../ingest-cache/product-rows.ts';
import { readWebhookAnswer } from '../entities/webhook-answer.ts';

/** A change of a product's answers to senders. Left out: unchanged; null: the default. */
export interface AnswersChange {
  answer200?: boolean | null;
  webhookAnswer?: { status?: number | null; contentType?: string | null; body?: string | null } | null;
}

/** The checked change; BAD_USER_INPUT naming the wrong part of the input. */
export function checkAnswers({ answer200, webhookAnswer }: AnswersChange): Partial<ProductAnswers> {
  const webhook = webhookAnswer == null ? null : readWebhookAnswer(webhookAnswer);
  if (typeof webhook === 'string') throw badInput(`input.webhookAnswer: ${webhook}`);
  return {
    ...(answer200 === undefined ? {} : { always200: answer200 === true }),
    ...(webhookAnswer === undefined ? {} : { webhook }),
  };
}

/** Stores the answers, in the transaction of the product's own change. */
export async function writeAnswers(
  em: EntityManager,
  productKey: number,
  change: Partial<ProductAnswers>,
): Promise<void> {
  if (Object.keys(change).length === 0) return;
  const row = await em.findOne(ProductAnswerSchema, { product: productKey });
  const { always200, webhook } = { ...productAnswers(row), ...change };
  await em.execute('delete from product_answer where product_key = ?', [productKey], 'run');
  if (!always200 && webhook === null) return;
  const values = [productKey, always200 ? 1 : 0, webhook === null ? null : JSON.stringify(webhook)];
  await em.execute('insert into product_answer (product_key, always200, webhook) values (?, ?, ?)', values, 'run');
}

/** Answers by product key; the default for an unknown product. */
export async function readAnswers(database: Database, productKeys: readonly number[]): Promise<ProductAnswers[]> {
  const rows = await database.read().find(ProductAnswerSchema, { product: { $in: [...productKeys] } });
  const byKey = new Map(rows.map((row) => [row.product.key, row]));
  return productKeys.map((key) => productAnswers(byKey.get(key) ?? null));
}

/** Approximate bytes of answers in memory. */
export function bytesOfAnswers(answers: readonly ProductAnswers[]): number {
  return answers.reduce((bytes, { webhook }) => bytes + 50 + 2 * (webhook?.body.length ?? 0), 0);
}
