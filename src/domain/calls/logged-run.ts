import { shownOutput } from '../decoders/decoder-output.ts';
import type { DecoderRun, EntryOutcome, RunFailure } from '../decoders/decoder-run.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import { runParts } from './run-text.ts';

/**
 * The run of a logged call, as clients see it. Of its text, up to hundreds of kilobytes, only what is asked for is
 * parsed: one whose output is 20,000 empty lists takes 4 ms.
 */
export class LoggedRun implements DecoderRun {
  readonly #text: string;
  readonly #mask: (value: unknown) => unknown;
  #parts: ReadonlyMap<string, string> | null = null;

  /** `text`: of `runText`. `mask`: changes what is shown, without regard to which part of it. */
  constructor(text: string, mask: (value: unknown) => unknown) {
    this.#text = text;
    this.#mask = mask;
  }

  get ok(): boolean {
    return this.#text.startsWith('{"ok":true');
  }

  get output(): unknown {
    return this.shownOutput(JSON.parse(this.outputText));
  }

  /** The JSON text of what `shownOutput` makes the output of. */
  get outputText(): string {
    return this.#part('output');
  }

  /** What was parsed of `outputText`, as it is shown. */
  shownOutput(output: unknown): unknown {
    return this.#mask(shownOutput(output));
  }

  get console(): string[] {
    return this.#parsed('console') as string[];
  }

  get error(): RunFailure | null {
    return this.#parsed('error') as RunFailure | null;
  }

  get durationMs(): number {
    return this.#parsed('durationMs') as number;
  }

  get entries(): EntryOutcome[] {
    return this.#parsed('entries') as EntryOutcome[];
  }

  get answer(): WebhookAnswer | null {
    return this.#parsed('answer') as WebhookAnswer | null;
  }

  get truncated(): boolean {
    return this.#parsed('truncated') as boolean;
  }

  #parsed(name: string): unknown {
    return this.#mask(JSON.parse(this.#part(name)));
  }

  #part(name: string): string {
    this.#parts ??= runParts(this.#text);
    return this.#parts.get(name) ?? 'null';
  }
}
