import { expect, test } from 'vitest';
import { Allowance } from './allowance.ts';

test('callers share what all have together, and none has more than one alone', () => {
  const allowance = new Allowance(0.3, 0.6);
  allowance.share(1, 0);
  expect(allowance.total(100)).toBeCloseTo(30);
  allowance.share(6, 100);
  expect(allowance.total(200)).toBeCloseTo(30 + 10);
  allowance.share(0, 200);
  expect(allowance.total(300)).toBeCloseTo(40 + 30);
});

test('however many they are, each has something', () => {
  const allowance = new Allowance(0.3, 0.6);
  allowance.share(1_000, 0);
  expect(allowance.each).toBe(0.01);
});

test('who is not counted anew has left', () => {
  const allowance = new Allowance(0.3, 0.6);
  allowance.share(60, 0);
  expect(allowance.total(250)).toBeCloseTo(2.5);
  expect(allowance.total(1_250)).toBeCloseTo(2.5 + 300);
});
