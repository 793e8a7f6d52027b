/** Forms and parameters that would become very many values are refused, and others are served meanwhile. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';

const list = { type: 'array', items: { type: 'string' } };
const tree = { type: 'object' };
const mock = { 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } }, responses: { 200: { description: 'OK' } } };
const schema = { type: 'object', properties: { pipes: list, spaces: list, commas: list, many: list, deep: tree } };
const encoding = {
  pipes: { style: 'pipeDelimited', explode: false },
  spaces: { style: 'spaceDelimited', explode: false },
  commas: { style: 'form', explode: false },
  deep: { style: 'deepObject', explode: true },
};
const URLENCODED = 'application/x-www-form-urlencoded';
const MB = 1_000_000;

describe('a form of a megabyte', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const content = { [URLENCODED]: { schema, encoding }, 'multipart/form-data': { schema } };
    const parameters = [
      { name: 'ids', in: 'query', style: 'pipeDelimited', explode: false, schema: list },
      { name: 'X-Ids', in: 'header', schema: list },
    ];
    const paths = {
      '/form': { post: { ...mock, requestBody: { content } } },
      '/lists': { get: { ...mock, parameters } },
      '/fast': { get: mock },
    };
    const document = { openapi: '3.1.0', info: { title: 'Forms', version: '1' }, paths };
    gw = await startGateway(await compileSpec(document, ['mock']), {
      args: ['--dev', '--max-body-size', String(4 * MB), '--max-uri-length', '32768', '--max-header-size', '32768'],
    });
  });
  afterAll(() => gw?.stop());

  const post = (body: string, type = URLENCODED) =>
    fetch(`${gw.url}/form`, { method: 'POST', headers: { 'content-type': type }, body });

  it.each([
    ['pipes', `pipes=${'|'.repeat(MB)}`, 'has more than 10000 items'],
    ['encoded pipes', `pipes=${'%7C'.repeat(MB / 3)}`, 'has more than 10000 items'],
    ['spaces', `spaces=${'+'.repeat(MB)}`, 'has more than 10000 items'],
    ['commas', `commas=${','.repeat(MB)}`, 'has more than 10000 items'],
    ['pairs', 'many=&'.repeat(MB / 6), 'has more than 1000 fields'],
    ['nothing but separators', '&'.repeat(MB), 'has more than 1000 fields'],
    ['brackets', `deep${'[x]'.repeat(MB / 3)}=1`, 'is not written as the API description says'],
    ['names in brackets', 'deep[x]=1&'.repeat(MB / 10), 'has more than 1000 fields'],
  ])('of %s is refused, 32 at once', async (_, body, reason) => {
    const answers = Array.from({ length: 32 }, () => post(body));
    expect((await fetch(`${gw.url}/fast`)).status).toBe(200);
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(400);
      expect(await jsonOf(answer)).toMatchObject({ errors: [{ in: 'body', reason }] });
    }
  });

  it('of a hundred thousand parts is refused', async () => {
    const part = '--b\r\nContent-Disposition: form-data; name="many"\r\n\r\n\r\n';
    const answer = await post(part.repeat(60_000).concat('--b--'), 'multipart/form-data; boundary=b');
    expect(answer.status).toBe(400);
    expect(await jsonOf(answer)).toMatchObject({ errors: [{ reason: 'has more than 1000 parts' }] });
  });

  it('of one long text with spaces is taken, and so is a list within the limit', async () => {
    expect((await post(`other=${'a+'.repeat(MB / 2)}`)).status).toBe(200);
    expect((await post(`pipes=${Array(10_000).fill('x').join('|')}`)).status).toBe(200);
    expect((await post(`pipes=${Array(10_001).fill('x').join('|')}`)).status).toBe(400);
  });

  it('is bounded as lists in queries and headers are', async () => {
    expect((await fetch(`${gw.url}/lists?ids=${'%7C'.repeat(9_000)}`)).status).toBe(200);
    expect((await fetch(`${gw.url}/lists?ids=${'|'.repeat(10_000)}`)).status).toBe(400);
    expect((await fetch(`${gw.url}/lists`, { headers: { 'x-ids': 'a,'.repeat(4_000) } })).status).toBe(200);
    expect((await fetch(`${gw.url}/lists`, { headers: { 'x-ids': 'a,'.repeat(12_000) } })).status).toBe(400);
  });
});
