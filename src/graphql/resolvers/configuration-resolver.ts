import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { ConfigurationService } from '../../domain/products/configuration-service.ts';
import { configurationFieldId } from '../../domain/products/field-id.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import {
  ConfigurationFieldInput,
  ConfigurationFieldObject,
  UpdateConfigurationFieldInput,
} from '../types/configuration.ts';
import { DeviceObject } from '../types/device.ts';
import { Json } from '../types/json.ts';

/** Configuration that decoders get (CONTRACT 5); the values of a device are in device-object-resolver. */
@Resolver(() => ConfigurationFieldObject)
export class ConfigurationResolver {
  readonly #configurations: ConfigurationService;

  constructor(configurations: ConfigurationService) {
    this.#configurations = configurations;
  }

  @FieldResolver(() => ID, { description: 'The id of the configuration field.' })
  id(@Root() { key }: ConfigurationFieldObject): string {
    return configurationFieldId(key);
  }

  @Mutation(() => ConfigurationFieldObject, {
    description: 'Adds a value that decoders can be told about each device; CONFLICT when the identifier is taken.',
  })
  addConfigurationField(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product.' }) productId: string,
    @Arg('input', () => ConfigurationFieldInput, { description: 'The configuration field.' })
    input: ConfigurationFieldInput,
  ): Promise<ConfigurationFieldObject> {
    return this.#configurations.add(access, productId, input);
  }

  @Mutation(() => ConfigurationFieldObject, { description: 'Left out: unchanged. null clears.' })
  updateConfigurationField(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the configuration field.' }) id: string,
    @Arg('input', () => UpdateConfigurationFieldInput, { description: 'What is to change.' })
    input: UpdateConfigurationFieldInput,
  ): Promise<ConfigurationFieldObject> {
    return this.#configurations.update(access, id, input);
  }

  @Mutation(() => ID, { description: 'Removes the field and its values on every device of the product.' })
  removeConfigurationField(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the configuration field.' }) id: string,
  ): Promise<string> {
    return this.#configurations.remove(access, id);
  }

  @Mutation(() => DeviceObject, {
    description:
      "Identifier to value; null goes back to the product's default. What is not named stays. Up to 64 KiB of JSON together.",
  })
  setConfiguration(
    @Ctx() { access }: GraphqlContext,
    @Arg('deviceId', () => ID, { description: 'The device.' }) deviceId: string,
    @Arg('values', () => Json, {
      description: 'An object of identifiers of configuration fields to values of their types, or null.',
    })
    values: unknown,
  ): Promise<DeviceObject> {
    return this.#configurations.set(access, deviceId, values);
  }
}
