// Loaded before a server that is measured: tells the longest piece, in ms of its own processor time, for which its event
// loop did not look at anybody else since it was asked the last time.
const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.argv[1]?.endsWith('dist/src/main.js') && process.env.GAUGE_PORT !== undefined) {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = used();
  let longest = 0;
  const look = () => {
    const now = used();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(look, 2).unref();
  const collect = () => {
    require('node:v8').setFlagsFromString('--expose-gc');
    require('node:vm').runInNewContext('gc')();
  };
  require('node:http')
    .createServer({ keepAliveTimeout: 600_000 }, ({ url }, response) => {
      look();
      if (url === '/collect') collect();
      before = used();
      response.end(String(longest));
      longest = 0;
    })
    .listen(Number(process.env.GAUGE_PORT), '127.0.0.1')
    .unref();
}
