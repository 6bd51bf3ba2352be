/** A network, and its settings line by line. */
interface NetworkText {
  name: string;
  /** Place in the network's own console. */
  where: string;
  text: string;
}

interface Known {
  /** Address of the server, such as `https://inlet.example.org`. */
  origin: string;
  /** A secret with scope RECORD, or a placeholder. */
  token: string;
  /** The product's webhook; null: not visible for this session. */
  webhookUrl: string | null;
}

/** The settings by which networks send here; each text can be copied as it is. */
export function networkTexts({ origin, token, webhookUrl }: Known): NetworkText[] {
  const header = `Authorization: Token ${token}`;
  return [
    {
      name: 'The Things Stack',
      where: 'Integrations → Webhooks → Add webhook → Custom webhook',
      text: `Webhook format: JSON\nBase URL: ${origin}/integrations/lorawan/tti/\nAdditional header: ${header}\nEnabled event types: Uplink message (path empty)`,
    },
    {
      name: 'ChirpStack',
      where: 'Application → Integrations → HTTP',
      text: `Payload encoding: JSON\nEvent endpoint URL: ${origin}/integrations/lorawan/chirpstack/\nHeader: ${header}`,
    },
    {
      name: 'Helium',
      where: 'Integrations → Add new integration → HTTP',
      text: `Method: POST\nEndpoint: ${origin}/integrations/lorawan/helium/\nHTTP header: ${header}`,
    },
    {
      name: 'Particle',
      where: 'Integrations → New integration → Webhook',
      text: `URL: ${origin}/integrations/particle/\nRequest type: POST\nRequest format: JSON\nHTTP basic auth: inlet / ${token}`,
    },
    {
      name: 'Notehub',
      where: 'Routes → Create route → General HTTP/HTTPS Request/Response',
      text: `URL: ${webhookUrl ?? `${origin}/integrations/api/<webhook id>/`}\nHTTP headers: none needed\nNotefiles: those with measurements\nTransform data: none (the decoder of this product reads the event)`,
    },
  ];
}
