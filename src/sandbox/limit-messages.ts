/** The same words whether isolated-vm ended the run or the pool killed its process. */
export const timeoutMessage = (limitMs: number): string => `The run took longer than ${limitMs} ms.`;
/** The same words whether V8 ran out of memory or the pool killed the process. */
export const memoryMessage = (limitMb: number): string => `The run needed more than ${limitMb} MB of memory.`;
