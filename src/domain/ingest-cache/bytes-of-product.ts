interface Weighed {
  fields: ReadonlyMap<string, { description?: string | null | undefined }>;
  configuration: readonly unknown[];
  decoder: { source: string } | null;
}

/** Approximate memory of a product: each field is an object in two maps, each character takes up to two bytes. */
export function bytesOfProduct({ fields, configuration, decoder }: Weighed): number {
  let characters = decoder?.source.length ?? 0;
  for (const { description } of fields.values()) characters += description?.length ?? 0;
  return 2_000 + 500 * (fields.size + configuration.length) + 2 * characters;
}
