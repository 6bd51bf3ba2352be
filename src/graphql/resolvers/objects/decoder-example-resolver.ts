import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { maskedTexts } from '../../../domain/calls/run-text.ts';
import { secretMask, webhookIdsIn } from '../../../domain/decoders/call-secrets.ts';
import type { DecoderExample } from '../../../domain/entities/decoder-example.ts';
import type { ExampleTexts } from '../../../domain/decoders/example-rows.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { ShownJson } from '../../context/shown-json.ts';
import { StoredJson } from '../../context/stored-json.ts';
import { DecoderExampleObject } from '../../types/decoder.ts';
import { Json } from '../../types/json.ts';
import { LONG_TEXT } from '../../types/long-text.ts';

/** The long parts of an example, which are not read with it. */
@Resolver(() => DecoderExampleObject)
export class DecoderExampleResolver {
  @FieldResolver(() => Json, { complexity: LONG_TEXT, description: 'The call, with the keys of DecoderRequestInput.' })
  request(@Root() example: DecoderExample, @Ctx() context: GraphqlContext): Promised<unknown> {
    return partOf(example, 'request', context);
  }

  @FieldResolver(() => Json, { complexity: LONG_TEXT, description: 'The entries expected.' })
  expected(@Root() example: DecoderExample, @Ctx() context: GraphqlContext): Promised<unknown> {
    return partOf(example, 'expected', context);
  }
}

/**
 * A part of an example. Made of a logged call it may hold the webhook id (its path, `X-Forwarded-Uri`), or that of the
 * product which was cloned: seeing them needs CONFIGURE (CONTRACT 4).
 */
function partOf(
  { id, product: { key }, ...example }: DecoderExample,
  part: keyof ExampleTexts,
  { access, loaders }: GraphqlContext,
): Promised<unknown> {
  // An example that was just added has its own.
  if (example[part] !== undefined) return example[part];
  return whenKnown(loaders.exampleTexts.load(id), (texts) =>
    whenKnown(loaders.product.load(key), (product) => {
      if (texts === null || product === null) throw notFound('example', id);
      const text = texts[part];
      if (access.may(product.workspace.id, 'CONFIGURE')) return new StoredJson(text);
      const mask = secretMask([product.webhookId, ...webhookIdsIn(text)]);
      if (mask === null || mask(text) === text) return new StoredJson(text);
      return new ShownJson(text, (value) => maskedTexts(value, mask));
    }),
  );
}
