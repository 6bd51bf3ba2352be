import { expect, test } from 'vitest';
import { VersionCounter } from './version-counter.ts';

test('what has changed since then is known by its id, and of what was forgotten the worst is assumed', () => {
  const revisions = new VersionCounter();
  const before = revisions.now;
  revisions.changed('a');
  expect(revisions.now).toBeGreaterThan(before);
  expect(revisions.hasChanged(['b', 'a'], before)).toBe(true);
  expect(revisions.hasChanged(['b'], before)).toBe(false);
  expect(revisions.hasChanged(['a'], revisions.now)).toBe(false);
  const between = revisions.now;
  for (let at = 0; at < 10_000; at += 1) revisions.changed(`other ${at}`);
  expect(revisions.hasChanged(['a'], before)).toBe(true);
  expect(revisions.hasChanged(['a'], between)).toBe(false);
  expect(revisions.hasChanged(['other 0'], between)).toBe(true);
  revisions.changed('one more');
  // The first of the others is forgotten: whatever is unknown may have changed as late as that.
  expect(revisions.hasChanged(['a'], between)).toBe(true);
  expect(revisions.hasChanged(['a'], revisions.now - 1)).toBe(false);
  const last = revisions.now;
  revisions.changedAll();
  expect(revisions.hasChanged(['anything'], last)).toBe(true);
  expect(revisions.hasChanged(['anything'], revisions.now)).toBe(false);
});
