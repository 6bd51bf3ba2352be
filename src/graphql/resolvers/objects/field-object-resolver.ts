import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Field, FieldRole } from '../../../domain/entities/field.ts';
import type { FieldInfo } from '../../../domain/ingest-cache/ingest-cache.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { FieldRoleEnum } from '../../types/enums.ts';
import { FieldObject } from '../../types/field.ts';

type Parent = Field | FieldInfo;

/** A measurement's field comes from the catalogue, which keeps no more of it than recording needs. */
@Resolver(() => FieldObject)
export class FieldObjectResolver {
  @FieldResolver(() => ID)
  id(@Root() field: Parent): string {
    return String(field.key);
  }

  @FieldResolver(() => String, { nullable: true })
  async name(@Root() field: Parent, @Ctx() context: GraphqlContext): Promise<string | null> {
    return (await whole(field, context))?.name ?? null;
  }

  @FieldResolver(() => String, { nullable: true })
  async unit(@Root() field: Parent, @Ctx() context: GraphqlContext): Promise<string | null> {
    return (await whole(field, context))?.unit ?? null;
  }

  @FieldResolver(() => String, { nullable: true })
  async description(@Root() field: Parent, @Ctx() context: GraphqlContext): Promise<string | null> {
    return (await whole(field, context))?.description ?? null;
  }

  @FieldResolver(() => FieldRoleEnum, {
    nullable: true,
    description: 'What it stands for in a list of mixed products.',
  })
  async role(@Root() field: Parent, @Ctx() context: GraphqlContext): Promise<FieldRole | null> {
    return (await whole(field, context))?.role ?? null;
  }
}

async function whole(field: Parent, { loaders }: GraphqlContext): Promise<Field | null> {
  return 'description' in field ? field : loaders.field.load(field.key);
}
