import { FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Field, FieldRole } from '../../../domain/entities/field.ts';
import type { FieldInfo } from '../../../domain/ingest-cache/ingest-cache.ts';
import { fieldId } from '../../../domain/products/field-id.ts';
import { FieldRoleEnum } from '../../types/enums.ts';
import { FieldObject } from '../../types/field.ts';

type Parent = Field | FieldInfo;

/** What a field is to people, from the row or from what the ingest cache keeps of it. */
@Resolver(() => FieldObject)
export class FieldObjectResolver {
  @FieldResolver(() => ID)
  id(@Root() field: Parent): string {
    return fieldId(field.key);
  }

  @FieldResolver(() => String, { nullable: true })
  name(@Root() field: Parent): string | null {
    return field.name ?? null;
  }

  @FieldResolver(() => String, { nullable: true })
  unit(@Root() field: Parent): string | null {
    return field.unit ?? null;
  }

  @FieldResolver(() => String, { nullable: true })
  description(@Root() field: Parent): string | null {
    return field.description ?? null;
  }

  @FieldResolver(() => FieldRoleEnum, {
    nullable: true,
    description: 'What it stands for in a list of mixed products.',
  })
  role(@Root() field: Parent): FieldRole | null {
    return field.role ?? null;
  }
}
