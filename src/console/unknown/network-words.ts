const NAMES: Readonly<Record<string, string>> = {
  tti: 'The Things Stack',
  chirpstack: 'ChirpStack',
  helium: 'Helium',
  particle: 'Particle',
  webhook: 'webhook',
};

/** The name of what an unknown device was sent through. */
export function networkWord(network: string): string {
  return NAMES[network] ?? network;
}
