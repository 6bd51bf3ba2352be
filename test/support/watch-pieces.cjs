// Loaded before a server of the tests: tells its parent in which pieces its event loop computed between two messages,
// how many characters of JSON it parsed and how many promises it made, or how much of its heap is no garbage.
const { createHook } = require('node:async_hooks');
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');
const { isMainThread } = require('node:worker_threads');

/** Shorter ones are turns of an idle event loop. */
const LEAST_MS = 0.2;

if (isMainThread && process.send && process.argv[1]?.endsWith('main.js')) {
  let [pieces, before, isOver] = [[], 0, true];
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const look = () => {
    const now = usedMs();
    if (now - before >= LEAST_MS) pieces.push(now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  const work = { parsed: 0, promises: 0 };
  const counting = createHook({ init: (_, type) => void (type === 'PROMISE' && (work.promises += 1)) });
  const { parse } = JSON;
  JSON.parse = (text, reviver) => {
    work.parsed += text?.length ?? 0;
    return parse(text, reviver);
  };
  const keptBytes = () => {
    v8.setFlagsFromString('--expose-gc');
    // The first makes some of what only finalizers held into garbage.
    const collect = runInNewContext('gc');
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  process.on('message', (message) => {
    if (message === 'kept') process.send(keptBytes());
    else if (message === 'count') {
      Object.assign(work, { parsed: 0, promises: 0 });
      counting.enable();
      process.send('counting');
    } else if (message === 'counted') {
      counting.disable();
      process.send(work);
    } else if (message === 'begin') {
      [pieces, before, isOver] = [[], usedMs(), false];
      setImmediate(look);
      process.send('begun');
    } else if (message === 'end') {
      isOver = true;
      look();
      process.send(pieces);
    }
  });
  process.channel.unref();
}
