import Koa from 'koa';
import { type WebSocket, WebSocketServer } from 'ws';

/**
 * The ceiling of live values: a bare Koa route that parses the body, answers, and pushes it to the socket that named the
 * device, without storing anything. Prints its port.
 */
const followers = new Map<string, { socket: WebSocket; id: string }>();
const app = new Koa();
app.use(async (context) => {
  const chunks: Buffer[] = [];
  for await (const chunk of context.req) chunks.push(chunk as Buffer);
  const [entry] = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { value: number }[];
  const follower = followers.get(context.path.split('/')[3] ?? '');
  context.body = { stored: 1, rejected: [] };
  setImmediate(() => {
    const payload = { data: { measurementsRecorded: { measurements: [{ value: entry?.value }] } } };
    follower?.socket.send(JSON.stringify({ id: follower.id, type: 'next', payload }));
  });
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(JSON.stringify({ port: address.port }));
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as {
      type: string;
      id: string;
      payload?: { variables?: { d: string } };
    };
    if (message.type === 'connection_init') socket.send('{"type":"connection_ack"}');
    const device = message.payload?.variables?.d;
    if (device !== undefined) followers.set(device, { socket, id: message.id });
  });
});
// The bench that started us is gone: so are we.
process.stdin.resume().on('end', () => process.exit(0));
