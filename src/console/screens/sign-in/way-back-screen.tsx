import { useEffect } from 'preact/hooks';
import { href, usePlace } from '../../navigation/place.ts';

/**
 * The screen of `/sign-in?to=…`, to which separate pages lead without a session: leads back to them after signing in.
 */
export function WayBackScreen() {
  const { query } = usePlace();
  const to = query.get('to') ?? '';
  useEffect(() => location.replace(href(/^\/[\w-]+$/.test(to) ? to : '/')), [to]);
  return null;
}
