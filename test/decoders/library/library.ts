import { BINARY_DECODERS } from './binary-decoders.ts';
import { JSON_DECODERS } from './json-decoders.ts';
import type { LibraryDecoder } from './library-decoder.ts';
import { STATEFUL_DECODERS } from './stateful-decoders.ts';
import { TEXT_DECODERS } from './text-decoders.ts';

export const LIBRARY: LibraryDecoder[] = [...JSON_DECODERS, ...BINARY_DECODERS, ...TEXT_DECODERS, ...STATEFUL_DECODERS];
