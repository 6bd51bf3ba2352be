import { FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Field } from '../../../domain/entities/field.ts';
import type { FieldInfo } from '../../../domain/ingest-cache/ingest-cache.ts';
import { fieldId } from '../../../domain/products/field-id.ts';
import { FieldObject } from '../../types/field.ts';

type Parent = Field | FieldInfo;

/** The id that clients see, of the row or of what the ingest cache keeps of it. */
@Resolver(() => FieldObject)
export class FieldObjectResolver {
  @FieldResolver(() => ID, { description: 'The id of the field.' })
  id(@Root() field: Parent): string {
    return fieldId(field.key);
  }
}
