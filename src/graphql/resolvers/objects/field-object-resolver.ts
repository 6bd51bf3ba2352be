import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Field, FieldMeaning } from '../../../domain/entities/field.ts';
import type { FieldInfo } from '../../../domain/ingest-cache/ingest-cache.ts';
import { fieldId } from '../../../domain/products/field-id.ts';
import type { FieldMisfits } from '../../../domain/products/field-misfits.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { StoredJson } from '../../context/stored-json.ts';
import type { Promised } from '../../context/promised.ts';
import { FieldMeaningEnum } from '../../types/enums.ts';
import { Json } from '../../types/json.ts';
import { FieldObject, MisfitsObject } from '../../types/field.ts';

type Parent = Field | FieldInfo;

/** The id that clients see, of the row or of the ingest cache's copy. */
@Resolver(() => FieldObject)
export class FieldObjectResolver {
  readonly #misfits: FieldMisfits;

  constructor(misfits: FieldMisfits) {
    this.#misfits = misfits;
  }

  @FieldResolver(() => ID, { description: 'The id of the field.' })
  id(@Root() field: Parent): string {
    return fieldId(field.key);
  }

  @FieldResolver(() => [String], {
    description: 'Its earlier identifiers, under which senders may go on, in alphabetical order; at most 20.',
  })
  aliases(@Root() { key }: Parent, @Ctx() { loaders }: GraphqlContext): Promised<string[]> {
    return loaders.aliasesOfField.load(key);
  }

  @FieldResolver(() => FieldMeaningEnum, { description: 'What its numbers are, which charts follow.' })
  meaning(@Root() field: Parent): FieldMeaning {
    return field.meaning ?? 'GAUGE';
  }

  @FieldResolver(() => Json, {
    nullable: true,
    description:
      'How people read its values: {decimals, words: [{value, text, color}], low, high}, each only where it is said. ' +
      'null: nothing is said.',
  })
  display(@Root() field: Parent): StoredJson | null {
    return field.display == null ? null : new StoredJson(field.display);
  }

  @FieldResolver(() => MisfitsObject, {
    complexity: 1_000,
    description:
      'How many stored values do not fit its type; with updateField(dryRun: true) those that would not fit another one.',
  })
  misfits(@Root() { key, type }: Parent, @Ctx() { access, points, asker }: GraphqlContext): Promise<MisfitsObject> {
    return this.#misfits.count(access, { key, type }, { points, asker });
  }
}
