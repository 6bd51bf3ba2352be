import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { OnExisting } from '../../domain/devices/device-wish.ts';
import { type DeviceImporter, MAX_LISTED } from '../../domain/transfer/device-importer.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { LIST_TIMES } from '../operation/operation-cost.ts';
import { DeviceImport } from '../types/device-import.ts';
import { OnExistingEnum } from '../types/enums.ts';

/** Price of taking one line, unless it costs more to tell why it was refused. */
const LINE_PRICE = 0.5;
/** Characters given to the importer at once. */
const PIECE = 65_536;

/** Devices from a file (CONTRACT 11). */
@Resolver()
export class DeviceImportResolver {
  readonly #importer: DeviceImporter;

  constructor(importer: DeviceImporter) {
    this.#importer = importer;
  }

  @Mutation(() => DeviceImport, {
    complexity: ({ args, childComplexity }) => priceOf(args['text'], childComplexity),
    description:
      'Makes and changes devices by a CSV (comma, semicolon or tab; its first line names the columns) or NDJSON: ' +
      'serialNumber, name, tags, location, plan, configuration.<field>, metadata.<key>. A line that is refused does not ' +
      'keep the others out. Safe to send again. Larger files: POST /v1/devices.csv.',
  })
  importDevices(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product that the devices are to belong to.' }) productId: string,
    @Arg('text', () => String, { description: 'The content of the file.' }) text: string,
    @Arg('onExisting', () => OnExistingEnum, {
      nullable: true,
      description: 'What happens to a device of the product that has the serial number already; left out: FAIL.',
    })
    onExisting?: OnExisting | null,
    @Arg('dryRun', () => Boolean, { nullable: true, description: 'true: says the outcome and stores nothing.' })
    dryRun?: boolean | null,
    @Arg('plan', () => String, {
      nullable: true,
      description: 'The slug of the plan of new devices whose line names none; left out: free.',
    })
    plan?: string | null,
  ): Promise<DeviceImport> {
    const options = {
      productId,
      kind: kindOf(text),
      onExisting: onExisting ?? 'FAIL',
      plan: plan ?? null,
      dryRun: dryRun === true,
    };
    return this.#importer.run(access, options, piecesOf(text));
  }
}

/** NDJSON begins with an object, and no CSV does. */
function kindOf(text: string): 'csv' | 'ndjson' {
  return /^\uFEFF?\s*\{/.test(text) ? 'ndjson' : 'csv';
}

// eslint-disable-next-line @typescript-eslint/require-await
async function* piecesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE);
}

/** A line is either taken or told of. */
function priceOf(text: unknown, childComplexity: number): number {
  if (typeof text !== 'string') return LINE_PRICE;
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return Math.max(lines * LINE_PRICE, (Math.min(lines, MAX_LISTED) * childComplexity) / LIST_TIMES);
}
