import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { FieldService } from '../../domain/products/field-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { FieldInput, FieldObject, UpdateFieldInput } from '../types/field.ts';
import { ProductObject } from '../types/product.ts';

/** Fields of products (CONTRACT 1). */
@Resolver()
export class FieldResolver {
  readonly #fields: FieldService;

  constructor(fields: FieldService) {
    this.#fields = fields;
  }

  @Mutation(() => FieldObject, {
    description: 'Adds a field to the product; CONFLICT when the identifier or role is taken.',
  })
  addField(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product.' }) productId: string,
    @Arg('input', () => FieldInput, { description: 'The field.' }) input: FieldInput,
  ): Promise<FieldObject> {
    return this.#fields.add(access, productId, input);
  }

  @Mutation(() => FieldObject, {
    description:
      'Left out: unchanged. null clears name, unit, description, role, overflowAt or display. Values that do not fit another ' +
      'type are hidden: a dry run with `misfits` counts them first.',
  })
  updateField(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the field.' }) id: string,
    @Arg('input', () => UpdateFieldInput, { description: 'What is to change.' }) input: UpdateFieldInput,
    @Arg('dryRun', () => Boolean, {
      nullable: true,
      description: 'true: changes nothing, and answers the field as it would be.',
    })
    dryRun?: boolean | null,
  ): Promise<FieldObject> {
    return this.#fields.update(access, id, input, dryRun ?? false);
  }

  @Mutation(() => FieldObject, {
    description:
      'Gives a field another identifier. The values stay, widgets of the dashboard follow, and senders and decoders may ' +
      'go on under the earlier one (Field.aliases). CONFLICT when a field of the product has the identifier, or had it.',
  })
  renameField(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the field.' }) id: string,
    @Arg('identifier', () => String, { description: 'Its identifier from now on: 1 to 64 of A-Z a-z 0-9 _ -.' })
    identifier: string,
  ): Promise<FieldObject> {
    return this.#fields.rename(access, id, identifier);
  }

  @Mutation(() => FieldObject, {
    description: 'Forgets an earlier identifier of a field: entries under it are refused from now on, as of no field.',
  })
  removeFieldAlias(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the field.' }) id: string,
    @Arg('identifier', () => String, { description: 'The earlier identifier.' }) identifier: string,
  ): Promise<FieldObject> {
    return this.#fields.removeAlias(access, id, identifier);
  }

  @Mutation(() => ProductObject, {
    description: 'Takes an identifier off the suggestions; ignore false puts it back. It goes on being counted.',
  })
  ignoreSuggestedField(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product.' }) productId: string,
    @Arg('identifier', () => String, { description: 'The identifier as it was sent.' }) identifier: string,
    @Arg('ignore', () => Boolean, { nullable: true, description: 'false: show it again; left out: true.' })
    ignore?: boolean | null,
  ): Promise<ProductObject> {
    return this.#fields.ignoreSuggestion(access, productId, identifier, ignore ?? true);
  }

  @Mutation(() => ID, { description: 'Removes the field and its measurements on every device of the product.' })
  removeField(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the field.' }) id: string,
  ): Promise<string> {
    return this.#fields.remove(access, id);
  }
}
