import { expect, test } from 'vitest';
import { SpareTime } from './spare-time.ts';

test('what is taken back of an earlier charge is the caller’s own, and makes nobody’s requests less', () => {
  let idle = 0;
  const spare = new SpareTime(() => idle);
  const [caller, other] = [{}, {}];
  spare.noteUse(caller, 20);
  spare.divide([caller], 0);
  // 30 ms of requests, and less than was thought of the caller.
  for (let at = 0; at < 50; at += 1) spare.noteRequest();
  spare.noteUse(caller, -15);
  idle = 50;
  const divided = spare.divide([caller, other], 50);
  expect(divided.get(caller)).toBeCloseTo(10);
  expect(divided.get(other)).toBeCloseTo(17.5);
});
