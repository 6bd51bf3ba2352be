import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { ConfigurationType } from '../../domain/entities/configuration-field.ts';
import { ConfigurationTypeEnum } from './enums.ts';
import { Json } from './json.ts';

/** Parent: the ConfigurationField entity. `id` is in configuration-resolver. */
@ObjectType('ConfigurationField', {
  simpleResolvers: true,
  description: 'A value that the decoders of a product can be told about each device, such as an offset.',
})
export class ConfigurationFieldObject {
  /** Not shown; the id that clients see is sealed. */
  key!: number;

  @Field(() => String, {
    description: 'The name by which decoders read it, matched exactly: 1 to 64 characters of A-Z a-z 0-9 _ -.',
  })
  identifier!: string;

  @Field(() => ConfigurationTypeEnum, { description: 'The type of its values.' })
  type!: ConfigurationType;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is for, up to 2,000 characters.' })
  description?: string | null;

  @Field(() => Json, { nullable: true, description: 'The value of devices that have none of their own.' })
  default?: unknown;
}

/** The configuration of one device, as decoders get it. */
@ObjectType('ConfigurationValue', {
  simpleResolvers: true,
  description: "overridden false: the product's default.",
})
export class ConfigurationValueObject {
  @Field(() => ConfigurationFieldObject, { description: 'The configuration field whose value this is.' })
  field!: ConfigurationFieldObject;

  @Field(() => Json, {
    nullable: true,
    description: "What decoders are told: the device's own value, else the product's default; null: neither is set.",
  })
  value!: unknown;

  @Field(() => Boolean, {
    description: "true: the device has a value of its own; false: this is the product's default.",
  })
  overridden!: boolean;
}

/** A configuration field to be: `addConfigurationField`. */
@InputType({ description: 'A configuration field to be; a product has at most 200.' })
export class ConfigurationFieldInput {
  @Field(() => String, {
    description:
      'The name by which decoders read it: 1 to 64 characters of A-Z a-z 0-9 _ -; unique in the product, never changed.',
  })
  identifier!: string;

  @Field(() => ConfigurationTypeEnum, { description: 'The type of its values, which never changes.' })
  type!: ConfigurationType;

  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is for, up to 2,000 characters.' })
  description?: string | null;

  @Field(() => Json, {
    nullable: true,
    description:
      'The value of devices that have none of their own, of the given type; a text has at most 4,096 characters.',
  })
  default?: unknown;
}

/** Left out: unchanged. null clears. */
@InputType({ description: 'Changes of a configuration field: what is left out stays, null clears.' })
export class UpdateConfigurationFieldInput {
  @Field(() => String, { nullable: true, description: 'The name that people read, up to 200 characters.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is for, up to 2,000 characters.' })
  description?: string | null;

  @Field(() => Json, {
    nullable: true,
    description: 'The value of devices that have none of their own; a text has at most 4,096 characters.',
  })
  default?: unknown;
}
