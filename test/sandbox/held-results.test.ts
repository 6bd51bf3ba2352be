import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { decoderCommand } from '../../src/sandbox/decoder-command.ts';
import { encodeFrame, FRAME, FrameReader, RUN_FLAG } from '../../src/sandbox/frames.ts';
import { webhookInput } from './pool.ts';

/** The socket of a decoder process of the test's own, which tells the frame of each result. */
function startDecoders(onResult: (frame: Buffer) => void): Socket {
  const { command, args } = decoderCommand(64);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const socket = child.stdio[3] as Socket;
  const reader = new FrameReader(1 << 20);
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, (frame) => {
      if (frame[0] === FRAME.RESULT) onResult(frame);
    }),
  );
  return socket;
}

test('what has ended does not wait in its process for the run of another product', async () => {
  /** By job: when its result was read. */
  const read = new Map<number, number>();
  const socket = startDecoders((frame) => read.set(frame.readUInt32LE(1), performance.now()));
  const source = 'function Decoder(r) { for (var end = Date.now() + +r.body; Date.now() < end;); return [] }';
  socket.write(encodeFrame(FRAME.SOURCE, [1], source));
  let jobs = 0;
  /** One of each product after the other, in one piece; the last one's job. */
  const send = async (lasting: number[], flags = 0): Promise<number> => {
    const frames = lasting.map((ms, productNo) => {
      const input = webhookInput({ body: String(ms) });
      const numbers = [(jobs += 1), productNo, productNo, 1, 5_000, flags, Buffer.byteLength(input)];
      return encodeFrame(FRAME.RUN, numbers, input);
    });
    const last = jobs;
    socket.write(Buffer.concat(frames));
    await expect.poll(() => read.has(last), { interval: 5 }).toBe(true);
    return last;
  };
  for (let i = 0; i < 20; i += 1) await send([0, 0]);
  let early = 0;
  for (let i = 0; i < 20; i += 1) {
    // The source is no longer known to have been long; and warm: nothing but the next run is waited for.
    await send([0], RUN_FLAG.ALONE);
    for (let n = 0; n < 5; n += 1) await send([0]);
    const last = await send([0, 500]);
    if (read.get(last)! - read.get(last - 1)! > 250) early += 1;
  }
  // On a busy machine now and then both are read at once; held back, all of them would be.
  expect(early).toBeGreaterThanOrEqual(8);
});

test('a run is told to have taken what the opening of its isolate took, too', async () => {
  const took: { wallUs: number; keptUs: number }[] = [];
  const socket = startDecoders((frame) => took.push({ wallUs: frame.readUInt32LE(9), keptUs: frame.readUInt32LE(17) }));
  socket.write(encodeFrame(FRAME.SOURCE, [1], 'function Decoder() { return [] }'));
  const input = webhookInput();
  for (let productNo = 0; productNo < 40; productNo += 1) {
    const numbers = [productNo, productNo, 1, 1, 250, RUN_FLAG.ALONE, Buffer.byteLength(input)];
    socket.write(encodeFrame(FRAME.RUN, numbers, input));
    await expect.poll(() => took.length, { interval: 2 }).toBe(productNo + 1);
  }
  const shares = took.map(({ wallUs, keptUs }) => wallUs / keptUs).toSorted((a, b) => a - b);
  expect(shares[20]).toBeGreaterThan(0.9);
});
