import { href } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';

/** As the product's page calls them, where each has a text to be copied. */
const NETWORKS = ['The Things Stack', 'ChirpStack', 'Helium', 'Particle', 'Notehub'];

/** For who has no terminal but a network: where to find what is to be entered there. */
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
