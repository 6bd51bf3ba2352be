import { checkOfflineAfter } from '../devices/offline-after.ts';
import type { DeviceType } from '../entities/product.ts';
import { checkAuthorKey } from '../keys/author-key.ts';
import { checkStorable, checkText } from '../text/text.ts';
import { ZoneOffsets } from '../times/zone-offsets.ts';
import { checkDashboard, EMPTY_DASHBOARD } from './dashboard.ts';
import { checkNewFields, type NewField } from './new-field.ts';
import { type AnswersChange, checkAnswers } from './product-answers.ts';

/** Maximum characters of a product's name. */
export const MAX_PRODUCT_NAME = 200;

/** A product as a client sends it, unchecked. */
export interface NewProduct extends AnswersChange {
  name: string;
  key?: string | null;
  workspaceId?: string | null;
  deviceType?: DeviceType | null;
  dashboard?: unknown;
  fields?: NewField[] | null;
  decoder?: string | null;
  offlineAfterSeconds?: number | null;
  ignoreZeroPlaces?: boolean | null;
  timeZone?: string | null;
}

/** The product as it is to be stored. */
export type CheckedProduct = ReturnType<typeof checkNewProduct>;

/** The product with its defaults; BAD_USER_INPUT naming the path of the first mistake, CONFLICT for fields that clash. */
export function checkNewProduct(input: NewProduct) {
  const { decoder = null } = input;
  if (decoder !== null) checkStorable(decoder, 'input.decoder');
  return {
    authorKey: checkAuthorKey(input.key, 'input.key'),
    name: checkText(input.name, 'input.name', { max: MAX_PRODUCT_NAME }),
    deviceType: input.deviceType ?? 'API',
    dashboard: input.dashboard == null ? EMPTY_DASHBOARD : checkDashboard(input.dashboard),
    offlineAfterSeconds: checkOfflineAfter(input.offlineAfterSeconds, 'input.offlineAfterSeconds'),
    ignoreZeroPlaces: input.ignoreZeroPlaces ?? false,
    timeZone: checkTimeZone(input.timeZone),
    fields: checkNewFields(input.fields ?? []),
    answers: checkAnswers(input),
    decoder,
  };
}

/** The name as it was written, null when left out; BAD_USER_INPUT when it is not an IANA zone. */
export function checkTimeZone(name: string | null | undefined, path = 'input.timeZone'): string | null {
  if (name == null) return null;
  ZoneOffsets.of(name, path);
  return name;
}
