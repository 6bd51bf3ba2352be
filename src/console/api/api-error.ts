import { t } from '../texts/texts.ts';
/** A failure in the server's words; `code` is stable (CONTRACT 7), `OFFLINE` when the server cannot be reached. */
export class ApiError extends Error {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
  }
}

interface RawError {
  message: string;
  extensions?: Record<string, unknown> | undefined;
}

/** The first error of a GraphQL answer, as an ApiError. */
export function errorOf(errors: readonly RawError[]): ApiError {
  const { message, extensions = {} } = errors[0] ?? { message: t('The server answered with nothing.') };
  const { code, ...details } = extensions;
  return new ApiError(typeof code === 'string' ? code : 'UNKNOWN', message, details);
}

/** Anything thrown, in words for people. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
