interface Family {
  /** `# HELP` and `# TYPE`. */
  head: Set<string>;
  samples: string[];
}

/**
 * The metrics of several workers as one text: each sample with the label `worker`, each metric described once. `texts`:
 * as Prometheus reads them, by the worker's number.
 */
export function mergeMetrics(texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, Family>();
  for (const [worker, text] of texts) {
    let family: Family = { head: new Set(), samples: [] };
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (!line.startsWith('# ')) {
        family.samples.push(labelled(line, worker));
        continue;
      }
      const name = line.split(' ', 3)[2] ?? '';
      const known = families.get(name);
      family = known ?? { head: new Set(), samples: [] };
      if (known === undefined) families.set(name, family);
      family.head.add(line);
    }
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${lines.join('\n')}\n`;
}

/** `name{labels} value` or `name value`. */
function labelled(line: string, worker: number): string {
  const at = line.search(/[{ ]/);
  const [name, rest] = [line.slice(0, at), line.slice(at)];
  const label = `worker="${worker}"`;
  return rest.startsWith('{') ? `${name}{${label},${rest.slice(1)}` : `${name}{${label}}${rest}`;
}
