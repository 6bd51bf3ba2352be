import { Arg, Ctx, ID, Int, Mutation, Resolver } from 'type-graphql';
import type { DecoderExamples } from '../../domain/decoders/decoder-examples.ts';
import type { DecoderService } from '../../domain/decoders/decoder-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import {
  DecoderExampleObject,
  DecoderRequestInput,
  DecoderRun,
  DecoderVersionObject,
  UplinkInput,
} from '../types/decoder.ts';
import { Json } from '../types/json.ts';

/** Decoders and their examples (CONTRACT 5). */
@Resolver()
export class DecoderResolver {
  readonly #decoders: DecoderService;
  readonly #examples: DecoderExamples;

  constructor(decoders: DecoderService, examples: DecoderExamples) {
    this.#decoders = decoders;
    this.#examples = examples;
  }

  @Mutation(() => DecoderVersionObject, {
    complexity: 100,
    description: 'A new version, active at once. Refused when it does not parse, or (unless force) an example fails.',
  })
  saveDecoder(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('source', () => String) source: string,
    @Arg('note', () => String, { nullable: true }) note?: string | null,
    @Arg('force', () => Boolean, { nullable: true }) force?: boolean | null,
  ): Promise<DecoderVersionObject> {
    return this.#decoders.saveDecoder(access, productId, source, { note, force });
  }

  @Mutation(() => DecoderVersionObject)
  activateDecoder(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('version', () => Int) version: number,
  ): Promise<DecoderVersionObject> {
    return this.#decoders.activateDecoder(access, productId, version);
  }

  @Mutation(() => DecoderRun, {
    complexity: 100,
    description: 'source left out: the active decoder. Give one of request, callId and uplink. Stores nothing.',
  })
  testDecoder(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('source', () => String, { nullable: true }) source?: string | null,
    @Arg('request', () => DecoderRequestInput, { nullable: true }) request?: DecoderRequestInput | null,
    @Arg('callId', () => ID, { nullable: true }) callId?: string | null,
    @Arg('uplink', () => UplinkInput, { nullable: true }) uplink?: UplinkInput | null,
  ): Promise<DecoderRun> {
    return this.#decoders.testDecoder(access, productId, { source, request, callId, uplink });
  }

  @Mutation(() => DecoderExampleObject, {
    description:
      'Run on every save. expected: a list of {device, field, value, timestamp}; what is left out may be anything.',
  })
  addDecoderExample(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID) productId: string,
    @Arg('name', () => String) name: string,
    @Arg('request', () => DecoderRequestInput) request: DecoderRequestInput,
    @Arg('expected', () => Json) expected: unknown,
  ): Promise<DecoderExampleObject> {
    return this.#examples.addDecoderExample(access, productId, name, request, expected);
  }

  @Mutation(() => ID)
  removeDecoderExample(@Ctx() { access }: GraphqlContext, @Arg('id', () => ID) id: string): Promise<string> {
    return this.#examples.removeDecoderExample(access, id);
  }
}
