import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { DecoderVersion } from '../../../domain/entities/decoder-version.ts';
import { placeOfProduct } from '../../../domain/access/find-product.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { DecoderVersionObject } from '../../types/decoder.ts';
import { LONG_TEXT } from '../../types/long-text.ts';

/** Fields of a version that are looked up. */
@Resolver(() => DecoderVersionObject)
export class DecoderVersionResolver {
  @FieldResolver(() => String, { complexity: LONG_TEXT, description: 'Needs scope CONFIGURE.' })
  source(@Root() version: DecoderVersion, @Ctx() context: GraphqlContext): Promised<string> {
    const given = version.source as string | undefined;
    return whenKnown(mayConfigure(version, context), () =>
      whenKnown(given ?? context.loaders.decoderSource.load(version), (source) => {
        if (source === null) throw notFound('decoder version', String(version.version));
        return source;
      }),
    );
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Who saved it: the address of the user then, or the name of the token. Needs scope CONFIGURE.',
  })
  author(@Root() version: DecoderVersion, @Ctx() context: GraphqlContext): Promised<string | null> {
    return whenKnown(mayConfigure(version, context), () => version.author ?? null);
  }

  @FieldResolver(() => Boolean, { description: "Whether this version decodes the product's calls now." })
  active(@Root() version: DecoderVersion, @Ctx() { loaders }: GraphqlContext): Promised<boolean> {
    const { product: ofProduct, version: number } = version;
    return whenKnown(loaders.product.load(ofProduct.key), (product) => product?.activeVersion === number);
  }
}

/** Throws without scope CONFIGURE. */
function mayConfigure({ product: { key } }: DecoderVersion, { access, loaders }: GraphqlContext): Promised<void> {
  return whenKnown(loaders.product.load(key), (product) => {
    if (product === null) throw notFound('product', String(key));
    access.requireProduct(placeOfProduct(product), 'CONFIGURE');
  });
}
