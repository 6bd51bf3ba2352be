import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import type { SeriesRequest } from '../ports/series-request.ts';

type OfField = Pick<SeriesRequest, 'fieldKey' | 'fieldType' | 'wasBoolean' | 'meaning' | 'overflowAt'>;

/** What a request for its values says of a field. */
export function ofField({ key, type, wasBoolean, meaning, overflowAt }: FieldInfo): OfField {
  return { fieldKey: key, fieldType: type, wasBoolean, meaning, overflowAt };
}
