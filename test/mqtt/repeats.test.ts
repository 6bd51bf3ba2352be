import { expect, test } from 'vitest';
import { type Holder, type SeenMessage, Session, Sessions } from '../../src/mqtt/sessions.ts';
import { TopicAliases } from '../../src/mqtt/topic-aliases.ts';
import { deviceOfOutcome } from '../../src/mqtt/topic-meaning.ts';

const holder = (): Holder => ({ isLost: false, takeOver: () => {} });
const MINUTE = 60_000;

/** A message of a new connection, acknowledged then; whether it was taken for another one. */
function comes(session: Session, at: number, { isAgain = false, digest = '21.5' } = {}): boolean {
  const by = holder();
  const known = session.find({ id: 1, digest, isAgain, by, at });
  const told = { reason: 0, code: null, rejected: 0 };
  const seen: SeenMessage = known ?? {
    qos: 1,
    digest,
    holder: by,
    message: null,
    receiving: null,
    told,
    toldAt: at,
    cameUnsaid: false,
  };
  if (known === null) session.add(1, seen);
  session.acknowledged(1, seen, by, at);
  return known === null;
}

test('an equal value of a device that sleeps without a goodbye is another message each time that it wakes', () => {
  const session = new Session();
  for (let nth = 0; nth < 5; nth += 1) expect(comes(session, nth * 5 * MINUTE)).toBe(true);
});

test('it is the same one soon after, once, or when the device says so', () => {
  const session = new Session();
  expect(comes(session, 0)).toBe(true);
  expect(comes(session, 5_000)).toBe(false);
  expect(comes(session, 10_000)).toBe(true);
  expect(comes(session, 50 * MINUTE, { isAgain: true })).toBe(false);
  expect(comes(session, 50 * MINUTE, { isAgain: true, digest: '22' })).toBe(true);
});

test('messages that were given up take no more room than those that are told', () => {
  const session = new Session();
  const by = holder();
  for (let id = 1; id <= 1_000; id += 1)
    session.add(id, {
      qos: 1,
      digest: String(id),
      holder: by,
      message: null,
      receiving: null,
      told: null,
      toldAt: 0,
      cameUnsaid: false,
    });
  expect(session.size).toBeLessThanOrEqual(200);
  expect(session.find({ id: 1_000, digest: '1000', isAgain: true, by: holder(), at: 0 })).not.toBeNull();
});

test('topics of a session without a connection count, and no topic of any length is kept', () => {
  const sessions = new Sessions();
  for (let nth = 0; nth < 1_500; nth += 1) {
    const by = holder();
    const { session } = sessions.take(String(nth), by, false);
    session.persists = true;
    for (let topic = 0; topic < 100; topic += 1) session.subscriptions.add(`v1/${topic}/outcome`);
    sessions.leave(String(nth), by);
  }
  expect(sessions.take('0', holder(), false).isPresent).toBe(false);
  expect(sessions.take('1499', holder(), false).isPresent).toBe(true);

  const name = `70b3d50000000001${' '.repeat(2_000)}`;
  expect([deviceOfOutcome('v1/70b3d50000000001/outcome'), deviceOfOutcome(`v1/${name}/outcome`)]).toEqual([
    '70b3d50000000001',
    null,
  ]);
  const aliases = new TopicAliases();
  const packet = { alias: 1, qos: 0 as const, isAgain: false, id: 0, payload: Buffer.alloc(0), isCut: false };
  aliases.resolve({ ...packet, topic: `v1/${name}/N` });
  const later = { ...packet, topic: '' };
  aliases.resolve(later);
  expect(later.topic).toHaveLength(1_025);
});
