import { Worker } from 'node:worker_threads';
import type { Yaml } from '../domain/ports/yaml.ts';
import { badInput } from '../errors.ts';
import { programFile } from '../program-file.ts';
import { currentCaller } from '../scheduling/current-caller.ts';
import { Lane } from '../scheduling/lane.ts';
import { LANES } from '../scheduling/lanes.ts';

/** Maximum seconds and memory for one text. */
const LONGEST_MS = 20_000;
const MAX_MEMORY_MB = 512;

/** One of the two. */
export interface YamlQuestion {
  /** YAML to read. */
  read?: string;
  /** JSON text to write as YAML. */
  write?: string;
}

/** The text, or the mistake in the text that was to be read. */
export type YamlAnswer = { text: string } | { mistake: string };

/** YAML in a thread of its own for each text, one at a time: there are few, and none is to hold up another's requests. */
export class YamlThread implements Yaml {
  readonly #turns = new Lane(LANES.yaml);
  readonly #running = new Set<Worker>();

  async read(text: string): Promise<unknown> {
    const answer = await this.#ask({ read: text });
    if ('mistake' in answer) throw badInput(`document: no YAML that can be read: ${answer.mistake}`);
    return JSON.parse(answer.text) as unknown;
  }

  async write(json: string): Promise<string> {
    const answer = await this.#ask({ write: json });
    if ('mistake' in answer) throw new Error(answer.mistake);
    return answer.text;
  }

  /** Ends what is running. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((worker) => worker.terminate()));
  }

  #ask(question: YamlQuestion): Promise<YamlAnswer> {
    return this.#turns.use(currentCaller(), () => this.#answer(question));
  }

  async #answer(question: YamlQuestion): Promise<YamlAnswer> {
    const worker = new Worker(programFile('yaml/yaml.worker'), {
      workerData: question,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB, maxYoungGenerationSizeMb: 16 },
    });
    this.#running.add(worker);
    const timer = setTimeout(() => void worker.terminate(), LONGEST_MS);
    try {
      return await new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', (error: Error & { code?: string }) => {
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ mistake: 'it takes too much memory.' });
          else reject(error);
        });
        worker.once('exit', () => resolve({ mistake: `it takes longer than ${LONGEST_MS / 1_000} seconds.` }));
      });
    } finally {
      clearTimeout(timer);
      this.#running.delete(worker);
    }
  }
}
