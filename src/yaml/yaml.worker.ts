import { parentPort, workerData } from 'node:worker_threads';
import { jsonOfYaml, YamlMistake, yamlOf } from './yaml-text.ts';
import type { YamlAnswer, YamlQuestion } from './yaml-thread.ts';
import { must } from '../must.ts';

/** The answer to the one question of this thread. */
function answer({ read, write }: YamlQuestion): YamlAnswer {
  try {
    return { text: read === undefined ? yamlOf(JSON.parse(must(write)) as unknown) : jsonOfYaml(read) };
  } catch (error) {
    if (error instanceof YamlMistake) return { mistake: error.message };
    if (error instanceof RangeError) return { mistake: 'it is nested too deep.' };
    throw error;
  }
}

const port = must(parentPort);
port.postMessage(answer(workerData as YamlQuestion));
