const KEY = 'inlet.sign-in';

/** A way to sign in. */
export type Way = 'token' | 'password';

/** The way of last time in this browser; the first time a token: on a new server nobody has a password. */
export function lastWay(): Way {
  return localStorage.getItem(KEY) === 'password' ? 'password' : 'token';
}

/** Keeps the way for the next time. */
export function keepWay(way: Way): void {
  localStorage.setItem(KEY, way);
}
