let token: string | null = null;

/** Presents this token from now on, and no cookie: for a page that knows no session. */
export function presentToken(secret: string): void {
  token = secret;
}

/** The token that the page presents; null: the session's cookie counts. */
export function presentedToken(): string | null {
  return token;
}
