import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { FieldRole, FieldType } from '../../domain/entities/field.ts';
import { DateTime } from './date-time.ts';
import { FieldRoleEnum, FieldTypeEnum } from './enums.ts';
import { Json } from './json.ts';

/** Parent: the Field entity or a FieldInfo. `id`, `name`, `unit` and `description` are in resolvers/objects. */
@ObjectType('Field', { simpleResolvers: true })
export class FieldObject {
  /** Not shown; the id that clients see is sealed. */
  key!: number;

  @Field(() => String)
  identifier!: string;

  @Field(() => FieldTypeEnum)
  type!: FieldType;
}

/** Parent: the SuggestedField entity. */
@ObjectType('SuggestedField', { simpleResolvers: true })
export class SuggestedFieldObject {
  @Field(() => String)
  identifier!: string;

  @Field(() => FieldTypeEnum, { description: 'Guessed from the values seen.' })
  type!: FieldType;

  @Field(() => Json, { nullable: true })
  lastValue?: unknown;

  @Field(() => String, { nullable: true, description: 'As senders gave it beside the value.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'As senders gave it beside the value.' })
  unit?: string | null;

  @Field(() => Int)
  seen!: number;

  @Field(() => DateTime)
  lastSeenAt!: number;
}

@InputType()
export class FieldInput {
  @Field(() => String)
  identifier!: string;

  @Field(() => FieldTypeEnum)
  type!: FieldType;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  unit?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => FieldRoleEnum, { nullable: true, description: 'At most one field of a product has it.' })
  role?: FieldRole | null;
}

@InputType()
export class UpdateFieldInput {
  @Field(() => FieldTypeEnum, { nullable: true })
  type?: FieldType | null;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  unit?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => FieldRoleEnum, { nullable: true, description: 'At most one field of a product has it.' })
  role?: FieldRole | null;
}
