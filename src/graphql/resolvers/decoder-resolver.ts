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

/** Milliseconds of saving a decoder and reading its product anew, and characters of it per millisecond more. */
const SAVES_MS = 5;
const SAVED_PER_MS = 10_000;

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
    description:
      'A new version, active at once. Refused when it does not parse, or, unless force, when it has no Decoder, decodeUplink or Decode function or an example fails.',
  })
  saveDecoder(
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product.' }) productId: string,
    @Arg('source', () => String, { description: 'JavaScript, up to 256 KiB of UTF-8.' }) source: string,
    @Arg('note', () => String, { nullable: true, description: 'What changed and why, up to 10,000 characters.' })
    note?: string | null,
    @Arg('force', () => Boolean, {
      nullable: true,
      description: 'true: saves although an example fails or there is no function to call.',
    })
    force?: boolean | null,
  ): Promise<DecoderVersionObject> {
    budget.work(SAVES_MS + source.length / SAVED_PER_MS);
    return this.#decoders.saveDecoder(access, productId, source, { note, force });
  }

  @Mutation(() => DecoderVersionObject, {
    description: 'Makes a saved version the active one, at once; NOT_FOUND: there is no such version.',
  })
  activateDecoder(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product.' }) productId: string,
    @Arg('version', () => Int, { description: 'The number of the version, from 1.' }) version: number,
  ): Promise<DecoderVersionObject> {
    return this.#decoders.activateDecoder(access, productId, version);
  }

  @Mutation(() => DecoderRun, {
    complexity: 100,
    description: 'source left out: the active decoder. Give one of request, callId and uplink. Stores nothing.',
  })
  testDecoder(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product whose devices and fields it is to see.' })
    productId: string,
    @Arg('source', () => String, { nullable: true, description: 'The source to try, up to 256 KiB of UTF-8.' })
    source?: string | null,
    @Arg('request', () => DecoderRequestInput, { nullable: true, description: 'A call to make up.' })
    request?: DecoderRequestInput | null,
    @Arg('callId', () => ID, { nullable: true, description: "A call of the product's log." }) callId?: string | null,
    @Arg('uplink', () => UplinkInput, { nullable: true, description: 'A LoRaWAN payload.' })
    uplink?: UplinkInput | null,
  ): Promise<DecoderRun> {
    return this.#decoders.testDecoder(access, productId, { source, request, callId, uplink });
  }

  @Mutation(() => DecoderExampleObject, {
    description:
      'Run on every save. expected: a list of {device, field, value, timestamp} and no other keys; what is left out may be anything.',
  })
  addDecoderExample(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product; it has at most 100 examples, of 8 MB together.' })
    productId: string,
    @Arg('name', () => String, { description: '1 to 200 characters, unique in the product.' }) name: string,
    @Arg('request', () => DecoderRequestInput, { description: 'The call, up to 256 KiB.' })
    request: DecoderRequestInput,
    @Arg('expected', () => Json, { description: 'The entries expected of it, in order: at most 1,000 and 256 KiB.' })
    expected: unknown,
  ): Promise<DecoderExampleObject> {
    return this.#examples.addDecoderExample(access, productId, name, request, expected);
  }

  @Mutation(() => ID, { description: 'Removes an example and returns its id.' })
  removeDecoderExample(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the example.' }) id: string,
  ): Promise<string> {
    return this.#examples.removeDecoderExample(access, id);
  }
}
