import { describe, expect, it } from 'vitest';
import { interfacesNote, serverPathsNote } from './dev-report.ts';

describe('the interfaces that gw dev listens on', () => {
  it.each([
    ['0.0.0.0', 'all interfaces'],
    ['::', 'all interfaces'],
    ['192.0.2.7', '192.0.2.7'],
  ])('names %s, with how to listen on this machine alone', (address, shown) => {
    expect(interfacesNote({ address, port: 8080, family: '' })).toBe(
      `listening on ${shown}: other machines may send requests; --listen 127.0.0.1:8080 keeps it to this one\n`,
    );
  });

  it.each(['127.0.0.1', '::1'])('says nothing of %s', (address) => {
    expect(interfacesNote({ address, port: 8080, family: '' })).toBe('');
  });
});

describe('paths of servers, without which operations are served', () => {
  it.each([
    [['https://api.example.com/v1/', '/v2', 'https://api.example.com'], '/v1, /v2'],
    [['https://{tenant}.example.com/{version}'], '/{version}'],
  ])('names those of %j', (urls, shown) => {
    const note = serverPathsNote([{ servers: urls.map((url) => ({ url })) }]);
    expect(note).toBe(
      `paths are served without ${shown} of "servers": give the upstream's URL that path if it needs it\n`,
    );
  });

  it.each([[[]], [[{ servers: [{ url: 'https://api.example.com/' }, 7, {}] }]], [[{ servers: 'no list' }]]])(
    'says nothing of %j',
    (documents) => {
      expect(serverPathsNote(documents)).toBe('');
    },
  );
});
