#!/usr/bin/env bash
# Node 24.21.0 (npm package `node`, the version in the output below).
#
# Expected: when a worker of node:cluster ends, every connection that it had is closed, so that clients try again.
# Seen: in turn (SCHED_RR, the default) the primary hands a worker the next connection and closes its own end only when
# the worker says that it has taken it. A worker that is ended before that leaves its connection open in the primary:
# the client is neither answered nor closed, though another worker is free. (nodejs/node-v0.x-archive#7006 tells of it
# for 0.11 and was closed as not seen any more.) Here a worker's event loop stands still, as by a long computation, until
# it is ended; the other answers all the time.
#
# Output seen:
#   v24.21.0
#   answered 3, closed 0, waiting 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0 2>/dev/null
node=node_modules/node/bin/node
"$node" --version
cat >server.cjs <<'JS'
const cluster = require('node:cluster');
const http = require('node:http');
const { connect } = require('node:net');

if (cluster.isWorker) {
  process.on('message', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  http.createServer((request, response) => response.end('x')).listen({ port: 0, host: '127.0.0.1' });
} else {
  let [answered, closed, listening] = [0, 0, 0];
  const ask = ({ port }) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'));
    let isAnswered = false;
    socket.on('data', () => (isAnswered = true)).on('error', () => {});
    socket.on('close', () => (isAnswered ? (answered += 1) : (closed += 1)));
  };
  const workers = [cluster.fork(), cluster.fork()];
  cluster.on('listening', (worker, address) => {
    if (++listening < 2) return;
    workers[0].send('stand still');
    setTimeout(() => [1, 2, 3, 4].forEach(() => ask(address)), 1_000);
    setTimeout(() => workers[0].process.kill('SIGKILL'), 2_000);
    setTimeout(() => {
      console.log(`answered ${answered}, closed ${closed}, waiting ${4 - answered - closed}`);
      workers[1].process.kill('SIGKILL');
      process.exit(answered === 3 && closed === 0 ? 0 : 1);
    }, 6_000);
  });
}
JS
"$node" server.cjs
