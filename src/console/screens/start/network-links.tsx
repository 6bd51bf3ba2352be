import { href } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';

/** Networks with texts to copy, by their names on the product's page. */
const NETWORKS = ['The Things Stack', 'ChirpStack', 'Helium', 'Particle', 'Notehub'];

/** Links to the settings for networks, for users without a terminal. */
export function NetworkLinks({ productId, deviceId }: { productId: string; deviceId: string }) {
  return (
    <nav class="card padded network-links" aria-labelledby="network-links">
      <h2 id="network-links">Or let a network send</h2>
      <ul>
        {NETWORKS.map((network) => (
          <li key={network}>
            <a class="button" href={href(`/products/${productId}`, { network })}>
              {network}
              <Icon name="next" />
            </a>
          </li>
        ))}
      </ul>
      <p class="hint">
        There is a text to copy for each. A network finds its device by the serial number: give{' '}
        <a href={href(`/devices/${deviceId}`)}>this one</a> its EUI or id (More, Change).
      </p>
    </nav>
  );
}
