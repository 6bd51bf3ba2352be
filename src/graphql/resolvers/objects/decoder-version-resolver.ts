import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { DecoderVersion } from '../../../domain/entities/decoder-version.ts';
import { placeOfProduct } from '../../../domain/access/find-product.ts';
import type { Product } from '../../../domain/entities/product.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { DecoderVersionObject } from '../../types/decoder.ts';
import { LONG_TEXT } from '../../types/long-text.ts';

/** A version's fields that are looked up. */
@Resolver(() => DecoderVersionObject)
export class DecoderVersionResolver {
  @FieldResolver(() => String, { complexity: LONG_TEXT, description: 'Needs scope CONFIGURE.' })
  async source(@Root() version: DecoderVersion, @Ctx() context: GraphqlContext): Promise<string> {
    context.access.requireProduct(placeOfProduct(await productOf(version, context)), 'CONFIGURE');
    const given = version.source as string | undefined;
    const source = given ?? (await context.loaders.decoderSource.load(version));
    if (source === null) throw notFound('decoder version', String(version.version));
    return source;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Who saved it: the address of the user then, or the name of the token. Needs scope CONFIGURE.',
  })
  async author(@Root() version: DecoderVersion, @Ctx() context: GraphqlContext): Promise<string | null> {
    context.access.requireProduct(placeOfProduct(await productOf(version, context)), 'CONFIGURE');
    return version.author ?? null;
  }

  @FieldResolver(() => Boolean, { description: "Whether this version decodes the product's calls now." })
  async active(@Root() version: DecoderVersion, @Ctx() context: GraphqlContext): Promise<boolean> {
    return (await context.loaders.product.load(version.product.key))?.activeVersion === version.version;
  }
}

async function productOf(version: DecoderVersion, { loaders }: GraphqlContext): Promise<Product> {
  const product = await loaders.product.load(version.product.key);
  if (product === null) throw notFound('product', String(version.product.key));
  return product;
}
