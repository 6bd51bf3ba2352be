import { useEffect } from 'preact/hooks';
import { href, usePlace } from '../../navigation/place.ts';

/** `/sign-in?to=…`: pages of their own lead here when nobody is signed in; once somebody is, back to them. */
export function WayBackScreen() {
  const { query } = usePlace();
  const to = query.get('to') ?? '';
  useEffect(() => location.replace(href(/^\/[\w-]+$/.test(to) ? to : '/')), [to]);
  return null;
}
