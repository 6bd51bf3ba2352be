export interface LibraryCall {
  method?: 'GET' | 'POST';
  /** Behind the webhook id, with the query. */
  path?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** In order; `timestamp` (Unix seconds) is compared when given, `code` when the entry is refused. */
  expected: { device?: string; field: string; value?: unknown; timestamp?: number; code?: string }[];
}

/** A decoder of the kind that people write, with calls and what is expected of them. The texts are our own. */
export interface LibraryDecoder {
  name: string;
  fields: Record<string, 'FLOAT' | 'INTEGER' | 'BOOLEAN' | 'STRING' | 'GEOLOCATION'>;
  serialNumbers: string[];
  source: string;
  calls: LibraryCall[];
}
