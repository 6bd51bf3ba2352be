import Koa from 'koa';

/** The ceiling: a Koa app with one route that reads and parses the body and stores nothing. Prints its port. */
const app = new Koa();
app.use(async (context) => {
  const chunks: Buffer[] = [];
  for await (const chunk of context.req) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  context.body = { stored: Array.isArray(body) ? body.length : 1, rejected: [] };
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(JSON.stringify({ port: address.port }));
});
// The bench that started us is gone: so are we.
process.stdin.resume().on('end', () => process.exit(0));
