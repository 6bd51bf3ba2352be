import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import type { SeriesRequest } from '../ports/series-request.ts';

type OfField = Pick<SeriesRequest, 'fieldKey' | 'fieldType' | 'wasBoolean' | 'meaning' | 'overflowAt'>;

/** The properties of a field that a request for its values needs. */
export function ofField({ key, type, wasBoolean, meaning, overflowAt }: FieldInfo): OfField {
  return { fieldKey: key, fieldType: type, wasBoolean, meaning, overflowAt };
}
