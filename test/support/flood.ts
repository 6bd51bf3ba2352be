import { connect } from 'node:net';

/**
 * `node flood.ts <port> <connections>`, the request on stdin: each connection sends it again as soon as it is answered.
 * Says `all` when all have connected; at SIGTERM, how many milliseconds a connection has waited for an answer since.
 */
const [, , port, connections] = process.argv;
const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
const request = Buffer.concat(parts);
let [open, answers, from] = [Number(connections), 0, 0];
for (let at = 0; at < Number(connections); at += 1) {
  const socket = connect(Number(port), '127.0.0.1', () => {
    open -= 1;
    socket.write(request);
    if (open > 0) return;
    [answers, from] = [0, performance.now()];
    process.stdout.write('all\n');
  });
  socket.on('error', () => {});
  // Small answers, each of which comes as one piece.
  socket.on('data', () => {
    answers += 1;
    socket.write(request);
  });
}
process.once('SIGTERM', () => {
  const waited = ((performance.now() - from) * Number(connections)) / Math.max(1, answers);
  process.stdout.write(`${waited}\n`, () => process.exit(0));
});
