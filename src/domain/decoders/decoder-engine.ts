/** The domain's contract with the guarded cell that runs users' JavaScript (CONTRACT 5); `sandbox/` implements it. */

/** Maximum bytes of look-ups per run, as JSON text; the rest is left out. */
export const MAX_LOOKED_UP_BYTES = 4 << 20;

/** Kinds of failures of a decoder (CONTRACT 5). */
export type DecoderFailureKind =
  | 'SYNTAX'
  | 'NO_DECODER_FUNCTION'
  | 'THREW'
  | 'TIMEOUT'
  | 'OUT_OF_MEMORY'
  | 'BAD_OUTPUT';

/** `line` and `column` are 1-based and in the decoder's own source. */
export interface DecoderFailure {
  kind: DecoderFailureKind;
  message: string;
  line: number | null;
  column: number | null;
}

/**
 * How the user's code is called.
 * - `webhook`: `Decoder(request)`
 * - `lorawan`: `decodeUplink({bytes, fPort, recvTime, variables})` if defined, else `Decoder(bytes, port)`
 * - `particle`: `Decoder(payload, event)`
 * - `event`: `decodeEvent({type, event, recvTime, variables})`
 */
export type DecoderEntryPoint = 'webhook' | 'lorawan' | 'particle' | 'event';

/** A device as decoders see it (CONTRACT 5): every field of the product is there, with nulls before its first value. */
export interface DeviceValues {
  /** `timestamp` in Unix seconds. */
  measurements: Record<string, { value: unknown; timestamp: number | null }>;
  configuration: Record<string, unknown>;
}

/** One run of a decoder: its source, its entry point and its inputs. */
export interface DecoderJob {
  /** The workspace; time is shared fairly between workspaces first, then between the products of each. */
  workspaceId: string;
  /** The product, to which isolates and statistics belong. */
  productId: string;
  source: string;
  entryPoint: DecoderEntryPoint;
  /**
   * JSON text. `webhook`: `{method, path, body, headers: [[name, value]…], GET: {name: [..]}, POST: {name: [..]}}`.
   * `lorawan`: `{bytes: number[], fPort, recvTime: ISO text, variables, rawPayload, normalizedPayload}`.
   * `particle`: `{payload, event, rawPayload, normalizedPayload}`.
   * `event`: `{type, event, recvTime: ISO text, variables, rawPayload, normalizedPayload}`.
   */
  input: string;
  /**
   * JSON text of serial number → device id of the product's devices, as bytes that are never in one piece; null: it
   * exceeds the maximum. Called only if the source can use it; cached by `version`.
   */
  serials: { version: string; load: (maxBytes: number) => Promise<readonly Buffer[] | null> };
  /**
   * JSON text of the `DeviceValues` of devices of the product, one after the other until the caller stops; null or left
   * out: the product has no such device.
   */
  lookUp: (deviceIds: string[]) => AsyncIterable<readonly [deviceId: string, text: string | null]>;
  /** The sending device of a native network's message; null on the webhook, or when the product has no such device. */
  senderId: string | null;
}

/** Result of a run; `output` and `error` exclude each other. */
export interface DecoderResult {
  /** The returned value as JSON text (decoder-output describes odd values), null on failure. */
  output: string | null;
  /** The output as `JSON.parse` reads it, to be parsed only once. */
  value: unknown;
  /** One line for each console call, `warn`/`error`/`info` prefixed by their level; 64 KiB in all, the cut is marked. */
  console: string[];
  error: DecoderFailure | null;
  /** Execution time only; waiting for a free process does not count. */
  durationMs: number;
}

/**
 * Runs of a product's decoder on this node since the start; times in milliseconds over the last runs, null before the
 * first.
 */
export interface DecoderStatistics {
  runs: number;
  failures: Partial<Record<DecoderFailureKind, number>>;
  p50Ms: number | null;
  p99Ms: number | null;
}

/** Runs decoders within their limits, without harm to others (CONTRACT 5). */
export interface DecoderEngine {
  /**
   * Compiles the source without running it, in a queue of the token's own. The first mistake, or null when the source
   * parses and is within its size limit.
   */
  check(source: string, workspaceId: string, tokenId: string): Promise<DecoderFailure | null>;
  /**
   * Resolves whatever the code does. Rejects only with AppError `OVERLOADED` (bounded waiting is full) or `UNAVAILABLE`
   * (stopping).
   */
  run(job: DecoderJob): Promise<DecoderResult>;
  statistics(productId: string): DecoderStatistics;
  /** True when a process is up and has answered, or none is wanted yet. */
  ready(): boolean;
  stop(): Promise<void>;
}
