/** A LoRaWAN payload as the test tool takes it. */
export interface CorpusUplink {
  /** Hexadecimal. */
  bytes: string;
  port: number;
  recvTime?: string | undefined;
  variables?: unknown;
}

interface Run {
  output: unknown;
  error: { kind: string; message: string } | null;
}

/** A running server with a product for the corpus; what codecs do there is only tried out, nothing is stored. */
export class CorpusServer {
  readonly #url: string;
  readonly #token: string;
  readonly #productId: string;

  private constructor(url: string, token: string, productId: string) {
    this.#url = url;
    this.#token = token;
    this.#productId = productId;
  }

  static async open(url: string, token: string): Promise<CorpusServer> {
    const create = 'mutation { createProduct(input: { name: "corpus of codecs", deviceType: LORAWAN }) { id } }';
    const { createProduct } = await ask<{ createProduct: { id: string } }>(url, token, create, {});
    return new CorpusServer(url, token, createProduct.id);
  }

  async run(source: string, uplink: CorpusUplink): Promise<Run> {
    const query = `mutation ($id: ID!, $source: String!, $uplink: UplinkInput!) {
      testDecoder(productId: $id, source: $source, uplink: $uplink) { output error { kind message } }
    }`;
    const variables = { id: this.#productId, source, uplink };
    return (await ask<{ testDecoder: Run }>(this.#url, this.#token, query, variables)).testDecoder;
  }

  /** Takes the product away again. */
  async close(): Promise<void> {
    await ask(this.#url, this.#token, 'mutation ($id: ID!) { deleteProduct(id: $id) }', { id: this.#productId });
  }
}

async function ask<T>(url: string, token: string, query: string, variables: unknown): Promise<T> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Token ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: T | null; errors?: { message: string }[] };
  if (errors !== undefined || data === null)
    throw new Error(errors?.map(({ message }) => message).join('; ') ?? 'no data');
  return data;
}
