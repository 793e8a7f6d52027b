/** Text that no database can keep is the client's error, wherever it stands. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlServer, startControl } from '../../../test/control/server.ts';

let control: ControlServer;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control?.stop());

const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

describe('text that cannot be stored', () => {
  const bodies: readonly (readonly [string, unknown])[] = [
    ['a NUL character', { name: 'shop', description: 'a\0b' }],
    ['a NUL character in a name of a member', { name: 'shop', upstreams: { 'a\0': 'https://a.example' } }],
    ['half a surrogate pair', { name: 'shop', description: '\ud800' }],
    ['a body that nests deeply', deep(10_000)],
  ];
  for (const [what, json] of bodies) {
    it(`${what} is 422`, async () => {
      const answer = await control.ask('/projects', { method: 'POST', json });
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ type: 'urn:gw:error:unprocessable' });
    });
  }

  it('in the path and the query is 422', async () => {
    for (const path of ['/projects/%00', '/projects?name=%00', '/projects?name=a%00&name=b']) {
      expect((await control.ask(path)).status, path).toBe(422);
    }
  });

  it('whole surrogate pairs are kept', async () => {
    const answer = await control.ask('/projects', { method: 'POST', json: { name: 'shop', description: '📚' } });
    expect(await answer.json()).toMatchObject({ description: '📚' });
  });
});
