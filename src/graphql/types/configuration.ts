import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { ConfigurationType } from '../../domain/entities/configuration-field.ts';
import { ConfigurationTypeEnum } from './enums.ts';
import { Json } from './json.ts';

/** Parent: the ConfigurationField entity. `id` is in configuration-resolver. */
@ObjectType('ConfigurationField', { simpleResolvers: true })
export class ConfigurationFieldObject {
  /** Not shown; the id that clients see is sealed. */
  key!: number;

  @Field(() => String)
  identifier!: string;

  @Field(() => ConfigurationTypeEnum)
  type!: ConfigurationType;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Json, { nullable: true, description: 'The value of devices that have none of their own.' })
  default?: unknown;
}

/** What decoders are told about one device. */
@ObjectType('ConfigurationValue', {
  simpleResolvers: true,
  description: "overridden false: the product's default.",
})
export class ConfigurationValueObject {
  @Field(() => ConfigurationFieldObject)
  field!: ConfigurationFieldObject;

  @Field(() => Json, { nullable: true })
  value!: unknown;

  @Field(() => Boolean)
  overridden!: boolean;
}

/** A configuration field to be: `addConfigurationField`. */
@InputType()
export class ConfigurationFieldInput {
  @Field(() => String)
  identifier!: string;

  @Field(() => ConfigurationTypeEnum)
  type!: ConfigurationType;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Json, { nullable: true })
  default?: unknown;
}

/** Left out: unchanged. null clears. */
@InputType()
export class UpdateConfigurationFieldInput {
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Json, { nullable: true })
  default?: unknown;
}
