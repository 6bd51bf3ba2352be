import 'reflect-metadata';
import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import type { FieldMeaning, FieldRole, FieldType } from '../../domain/entities/field.ts';
import { DateTime } from './date-time.ts';
import { FieldMeaningEnum, FieldRoleEnum, FieldTypeEnum } from './enums.ts';
import { Json } from './json.ts';

const DISPLAY =
  'How people read its values, at most 2,000 bytes: {decimals, words: [{value, text, color}], low, high}. Of numbers ' +
  'the decimals (0 to 10), and the bounds below and above which a value is striking; of single values a text (up to 60 ' +
  'characters) and a color (green, amber, red, blue or grey).';

/** Parent: the Field entity or a FieldInfo. `id` and `display` are in resolvers/objects. */
@ObjectType('Field', { simpleResolvers: true, description: 'One thing that the devices of a product measure.' })
export class FieldObject {
  /** Not shown; the id that clients see is sealed. */
  key!: number;

  @Field(() => String, { description: 'The name that senders use, matched exactly (renameField changes it).' })
  identifier!: string;

  @Field(() => FieldTypeEnum, { description: 'The type of its values.' })
  type!: FieldType;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The unit of its values, up to 50 characters, such as °C.' })
  unit?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is, up to 2,000 characters.' })
  description?: string | null;

  @Field(() => FieldRoleEnum, { nullable: true, description: 'What it stands for in a list of mixed products.' })
  role?: FieldRole | null;

  @Field(() => Float, { nullable: true, description: 'Of a COUNTER: at which it begins again from 0.' })
  overflowAt?: number | null;
}

/** Parent: plain, as FieldMisfits gives it. */
@ObjectType('Misfits', {
  simpleResolvers: true,
  description:
    'Stored values that do not fit the type of their field: they stay, and nobody sees them while it has that.',
})
export class MisfitsObject {
  @Field(() => Float, { description: 'How many values do not fit.' })
  misfits!: number;

  @Field(() => Float, { description: 'How many values there are.' })
  values!: number;

  @Field(() => Int, { description: 'On how many devices they were counted, the oldest first; at most 200.' })
  devices!: number;

  @Field(() => Int, { description: 'How many devices there are.' })
  ofDevices!: number;
}

/** Parent: the SuggestedField entity. */
@ObjectType('SuggestedField', {
  simpleResolvers: true,
  description: 'An identifier that senders use and the product has no field for; at most 200 are kept for a product.',
})
export class SuggestedFieldObject {
  @Field(() => String, { description: 'The identifier as it was sent.' })
  identifier!: string;

  @Field(() => FieldTypeEnum, { description: 'Guessed from the values seen.' })
  type!: FieldType;

  @Field(() => Json, { nullable: true, description: 'The value seen last; texts are cut after 256 characters.' })
  lastValue?: unknown;

  @Field(() => String, { nullable: true, description: 'As senders gave it beside the value.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'As senders gave it beside the value.' })
  unit?: string | null;

  @Field(() => Int, { description: 'How many times it was sent.' })
  seen!: number;

  @Field(() => DateTime, { description: 'When it was sent last.' })
  lastSeenAt!: number;
}

@InputType({ description: 'A field to be; a product has at most 500.' })
export class FieldInput {
  @Field(() => String, {
    description:
      'The name that senders use: 1 to 64 characters of A-Z a-z 0-9 _ -; unique in the product, never changed.',
  })
  identifier!: string;

  @Field(() => FieldTypeEnum, { description: 'The type of its values.' })
  type!: FieldType;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The unit of its values, up to 50 characters, such as °C.' })
  unit?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is, up to 2,000 characters.' })
  description?: string | null;

  @Field(() => FieldRoleEnum, { nullable: true, description: 'At most one field of a product has it.' })
  role?: FieldRole | null;

  @Field(() => FieldMeaningEnum, {
    nullable: true,
    description: 'What its numbers are: of FLOAT and INTEGER any, of others GAUGE or STATE. Left out: GAUGE.',
  })
  meaning?: FieldMeaning | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Of a COUNTER: at which it begins again from 0, such as 65536 for 16 bits; above 0.',
  })
  overflowAt?: number | null;

  @Field(() => Json, { nullable: true, description: DISPLAY })
  display?: unknown;
}

@InputType({ description: 'Changes of a field: what is left out stays.' })
export class UpdateFieldInput {
  @Field(() => FieldTypeEnum, {
    nullable: true,
    description: 'Another type; stored values stay as they are, and those that do not fit it are null in raw series.',
  })
  type?: FieldType | null;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters; null clears.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The unit of its values, up to 50 characters; null clears.' })
  unit?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is, up to 2,000 characters; null clears.' })
  description?: string | null;

  @Field(() => FieldRoleEnum, { nullable: true, description: 'At most one field of a product has it.' })
  role?: FieldRole | null;

  @Field(() => FieldMeaningEnum, {
    nullable: true,
    description:
      'What its numbers are: of FLOAT and INTEGER any, of others GAUGE or STATE. Charts follow at once; a type that it ' +
      'does not fit makes it GAUGE.',
  })
  meaning?: FieldMeaning | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Of a COUNTER: at which it begins again from 0, such as 65536 for 16 bits; above 0; null clears.',
  })
  overflowAt?: number | null;

  @Field(() => Json, {
    nullable: true,
    description: `${DISPLAY} null clears; a type that a part does not fit takes it away.`,
  })
  display?: unknown;
}
