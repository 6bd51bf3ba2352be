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

  @Mutation(() => FieldObject)
  addField(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('input', () => FieldInput) input: FieldInput,
  ): Promise<FieldObject> {
    return this.#fields.add(access, productId, input);
  }

  @Mutation(() => FieldObject, { description: 'Left out: unchanged. null clears name, unit or description.' })
  updateField(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateFieldInput) input: UpdateFieldInput,
  ): Promise<FieldObject> {
    return this.#fields.update(access, id, input);
  }

  @Mutation(() => ProductObject, {
    description: 'Takes an identifier off the suggestions; ignore false puts it back. It goes on being counted.',
  })
  ignoreSuggestedField(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('identifier', () => String) identifier: string,
    @Arg('ignore', () => Boolean, { nullable: true }) ignore?: boolean | null,
  ): Promise<ProductObject> {
    return this.#fields.ignoreSuggestion(access, productId, identifier, ignore ?? true);
  }

  @Mutation(() => ID, { description: 'Removes the field and its measurements on every device of the product.' })
  removeField(@Ctx() { access }: GraphqlContext, @Arg('id', () => ID) id: string): Promise<string> {
    return this.#fields.remove(access, id);
  }
}
