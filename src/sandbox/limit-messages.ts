/** Message of a timeout, whether isolated-vm ended the run or the pool killed its process. */
export const timeoutMessage = (limitMs: number): string => `The run took longer than ${limitMs} ms.`;
/** Message of a lack of memory, whether V8 ran out of it or the pool killed the process. */
export const memoryMessage = (limitMb: number): string => `The run needed more than ${limitMb} MB of memory.`;
