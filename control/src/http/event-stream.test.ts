/** Streams of events end when they must. */
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile, createProject, specOf, uploadSpec } from '../../../test/control/compiling.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from '../../../test/control/server.ts';
import { EventStream } from './event-stream.ts';

/** Reads on each time, until `until` has come or the end; gives all that has come so far. */
function reading(response: Response): (until: string) => Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return async (until) => {
    while (!text.includes(until)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) return `${text}(end)`;
      text += value;
    }
    return text;
  };
}

describe('a stream of events', () => {
  let server: ControlServer;
  /** Of a compilation that waits for ever: no replica does any. */
  let path: string;
  beforeAll(async () => {
    server = await startControl({ args: ['--admin-bind', 'off', '--compile-concurrency', '0'] });
    const spec = await uploadSpec(server, 'waits.yaml', specOf(1));
    path = `/compilations/${(await compile(server, `/specs/${spec}`)).id}/events`;
  });
  afterAll(() => server?.signal('SIGKILL'));

  const open = (token?: string) => server.ask(path, token === undefined ? {} : { token });

  it('begins with what is, and stays open', async () => {
    const response = await open();
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await reading(response)('}\n\n')).toMatch(
      /^:\n\nevent: compilation\ndata: \{"id":.*"status":"pending".*\}\n\n$/,
    );
    const head = await server.ask(path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('ends when the token that opened it is revoked', async () => {
    const json = { name: 'watcher', role: 'viewer' };
    const { id, token } = await server.get<{ id: string; token: string }>('/tokens', { method: 'POST', json });
    const response = await open(token);
    const read = reading(response);
    await read('}\n\n');
    expect((await server.ask(`/tokens/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await read('(never)')).toMatch(/pending.*\n\n\(end\)$/s);
    expect((await open(token)).status).toBe(401);
  });

  it('ends for the next one of the same person past 100, the oldest first, and for nobody else', async () => {
    const json = { name: 'greedy', role: 'viewer' };
    const { token } = await server.get<{ token: string }>('/tokens', { method: 'POST', json });
    const other = reading(await open());
    const first = reading(await open(token));
    const more = [];
    for (let i = 0; i < 100; i++) more.push(await open(token));
    expect(await first('(never)')).toMatch(/\(end\)$/);
    expect(await other('}\n\n')).not.toContain('(end)');
    expect(more.every(({ status }) => status === 200)).toBe(true);
    await Promise.all(more.map((each) => each.body?.cancel()));
  });

  it('ends when the server stops', async () => {
    const read = reading(await open());
    await read('}\n\n');
    expect(await server.stop()).toBe(0);
    expect(await read('(never)')).toMatch(/pending.*\n\n\(end\)$/s);
  });
});

it('a stream or a download whose client goes away is no fault of anyone: nothing is logged at warn or error', async () => {
  const server = await startControl({ args: ['--admin-bind', 'off', '--compile-concurrency', '0'] });
  const spec = await uploadSpec(server, 'large.yaml', specOf(1, `# ${'x'.repeat(16 << 20)}\n`));
  const { id } = await compile(server, `/specs/${spec}`);
  const paths = [
    `/compilations/${id}/events`,
    `/projects/${await createProject(server)}/events`,
    `/specs/${spec}/content`,
  ];
  for (const path of paths) {
    await leave(server.url + path, (response) => response.destroy());
    await leave(server.url + path, ({ socket }) => socket.resetAndDestroy());
  }
  expect(await server.stop()).toBe(0);
  const answered = server.log.filter(({ msg }) => msg === 'request').map((line) => line['path']);
  expect(answered).toContain(`/specs/${spec}/compile`);
  expect(server.log.filter(({ level }) => level !== 'info')).toEqual([]);
});

/** Asks, and goes away by `how` once the answer has begun. */
function leave(url: string, how: (response: IncomingMessage) => void): Promise<void> {
  return new Promise((resolve) => {
    const asked = request(url, { agent: false, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }, (response) => {
      response.on('error', () => {}).once('close', resolve);
      response.once('data', () => how(response));
    });
    asked.on('error', () => {}).end();
  });
}

describe('EventStream', () => {
  it('is cut off where the client reads too slowly, and holds a bounded number of bytes', async () => {
    const stream = new EventStream();
    const broken = new Promise((resolve) => stream.body.once('error', resolve));
    for (let i = 0; i < 100; i++) stream.send('x', 'y'.repeat(100_000));
    expect(await broken).toMatchObject({ message: 'the client reads too slowly' });
    expect(stream.signal.aborted).toBe(true);
    expect(stream.body.readableLength).toBeLessThan(2 << 20);
  });

  it('sends no event to whom it is revoked from the start', async () => {
    const stream = new EventStream(AbortSignal.abort());
    stream.send('x', 1);
    expect(Buffer.concat(await stream.body.toArray()).toString()).toBe(':\n\n');
  });
});
