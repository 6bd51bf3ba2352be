import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { DecoderExample } from '../../../domain/entities/decoder-example.ts';
import type { ExampleTexts } from '../../../domain/decoders/example-rows.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { StoredJson } from '../../context/stored-json.ts';
import { DecoderExampleObject } from '../../types/decoder.ts';
import { Json } from '../../types/json.ts';
import { LONG_TEXT } from '../../types/long-text.ts';

/** What is long of an example, which is not read with it. */
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

function partOf(
  { id, ...example }: DecoderExample,
  part: keyof ExampleTexts,
  { loaders }: GraphqlContext,
): Promised<unknown> {
  // There is one where it was just added.
  if (example[part] !== undefined) return example[part];
  return whenKnown(loaders.exampleTexts.load(id), (texts) => {
    if (texts === null) throw notFound('example', id);
    return new StoredJson(texts[part]);
  });
}
