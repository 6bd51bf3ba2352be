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
  @FieldResolver(() => ID, { description: 'The id of the field.' })
  id(@Root() field: Parent): string {
    return fieldId(field.key);
  }

  @FieldResolver(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name(@Root() field: Parent): string | null {
    return field.name ?? null;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The unit of its values, up to 50 characters, such as °C.',
  })
  unit(@Root() field: Parent): string | null {
    return field.unit ?? null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'What it is, up to 2,000 characters.' })
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
