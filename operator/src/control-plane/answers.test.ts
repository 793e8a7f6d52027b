/** Servers that are no control plane: what a tenant may learn of what an address inside answers, by a status. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EgressGuard } from '@gw/gateway/egress';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { Connections } from './connection.ts';
import { Mirror, type Seen } from './mirror.ts';

const SECRET = 'xyzzy-of-another';
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** What is known after a first look at such a server. */
async function seenAt(answer: RequestListener, known: Partial<Seen> = {}): Promise<Seen> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const mirror = new Mirror(
    { name: 'a', owner: 'shop/a', access: { url: `http://127.0.0.1:${port}`, token: 'gwt_token' } },
    {
      connections: new Connections(new EgressGuard({ allowInternal: true, allow: [] })),
      before: { drift: [], ...known },
      onChange: () => {},
    },
  );
  closing.push(() => mirror.close());
  await eventually(() => expect(mirror.seen.problem).toBeDefined());
  return mirror.seen;
}

const ID = '01a20078-65e3-7880-a083-4c690f7bbe16';
const json = (value: unknown): RequestListener => {
  return (_, response) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
};

describe('what an address inside answers is in no status', () => {
  it.each<[string, RequestListener, string]>([
    ['a page', (_, response) => void response.end(`<h1>${SECRET}</h1>`), 'does not answer with JSON'],
    [
      'a short text, which a parser would quote',
      (_, response) => void response.end(SECRET),
      'does not answer with JSON',
    ],
    ['an error', (_, response) => void response.writeHead(403).end(SECRET), 'answered 403 without a problem document'],
    [
      'a problem document',
      (_, response) => {
        const problem = { type: `urn:x:${SECRET}`, title: SECRET, status: 403, detail: SECRET };
        response.writeHead(403, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
      },
      'answered 403 without a problem document of a control plane',
    ],
    [
      'a problem document of a control plane, its title of our own table',
      (_, response) => {
        const problem = { type: 'urn:gw:error:forbidden', title: SECRET, status: 403, detail: SECRET };
        response.writeHead(403, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
      },
      'answered 403 (Forbidden); its log has more',
    ],
    ['a redirect', (_, response) => void response.writeHead(302, { location: `/${SECRET}` }).end(), 'redirect'],
    ['a list of something else', json([{ name: 'a', description: '', id: SECRET }]), 'is it gw-control?'],
    ['an object with a like name', json({ name: SECRET, id: SECRET }), ''],
    [
      'a next page at another address, which would get the token',
      (_, response) => {
        response.setHeader('link', '<http://evil.example/next>; rel="next"').end('[]');
      },
      'answered 200',
    ],
  ])('%s', async (_, answer, message) => {
    const seen = await seenAt(answer);
    expect(seen.problem?.message).toContain(message);
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(JSON.stringify(seen)).not.toContain('gwt_token');
  });

  it('nor what a server says of a deployment that is none', async () => {
    const seen = await seenAt((request, response) => {
      const path = request.url ?? '';
      const one = path.includes('/deployments')
        ? [{ deployment_id: ID, artifact_id: ID, artifact_hash: SECRET, kind: 'deploy', created_by: SECRET }]
        : [{ id: ID, name: 'a', description: '' }];
      json(one)(request, response);
    });
    expect(seen.problem?.message).toContain('is it gw-control?');
    expect(JSON.stringify(seen)).not.toContain(SECRET);
  });

  it('nor is an answer without an end read to its end', async () => {
    let sent = 0;
    const seen = await seenAt((_, response) => {
      const chunk = Buffer.alloc(1 << 20, ' ');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
        response.once('drain', more);
      };
      more();
    });
    expect(seen.problem?.kind).toBe('away');
    expect(sent).toBeLessThan(64 << 20);
  });
});
