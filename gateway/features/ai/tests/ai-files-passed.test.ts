/** Files and batches that ai-proxy passes on, each to its consumer only, through a real `gw serve` with the official client. */
import OpenAI, { BadRequestError, NotFoundError, PermissionDeniedError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { FilesApi } from '../../../../test/ai/files-api.ts';
import {
  ended,
  filesPaths,
  IDS_KEY,
  KEYS,
  KEYS_ENV,
  newBatch,
  SCHEMES,
  uploaded,
} from '../../../../test/serve/ai-files-project.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

const kept = new FilesApi();
let chat: FakeProvider;
let gw: Gateway;
let other: Gateway;

beforeAll(async () => {
  chat = await startChatProvider(CHAT_KEY, 'chat', kept);
  const main = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const files = { id_key: 'env://IDS_KEY' };
  const nowhere = { provider: 'provider_chat', base_url: 'http://127.0.0.1:1' };
  const shared = { ...main, files: { ...files, anonymous: 'allow' } };
  const configs: Record<string, object> = {
    '': { ...main, files },
    '/named': { ...nowhere, targets: { main }, default_target: 'main', files: { ...files, target: 'main' } },
    '/default': { ...nowhere, targets: { main }, default_target: 'main', files },
    '/shared': shared,
    '/other-key': { ...main, files: { id_key: 'env://OTHER_IDS_KEY' } },
    '/nowhere': { ...nowhere, files },
    '/wrong-key': { ...main, api_key: 'env://OTHER_IDS_KEY', files },
    '/messages': { provider: 'provider_messages', base_url: chat.url, files },
    '/local': { provider: 'provider_local', base_url: chat.url, files },
  };
  const paths = [
    ...Object.entries(configs).flatMap(([prefix, config]) => filesPaths(prefix, config)),
    ...filesPaths('/open', { ...main, files }, []),
    ...filesPaths('/open-shared', shared, []),
  ];
  const document = {
    openapi: '3.1.0',
    info: { title: 'files', version: '1' },
    components: { securitySchemes: SCHEMES },
    paths: Object.fromEntries(paths),
  };
  const artifact = await compileSpec(document, ['ai-proxy', 'apikey-auth']);
  const env = { CHAT_KEY, IDS_KEY, OTHER_IDS_KEY: IDS_KEY.replaceAll('0', 'x'), ...KEYS_ENV };
  [gw, other] = await Promise.all([startGateway(artifact, { env }), startGateway(artifact, { env })]);
});
afterAll(async () => {
  expect(await Promise.all([gw.stop(), other.stop()])).toEqual([0, 0]);
  await chat.close();
});

function clientOf(who: keyof typeof KEYS | null, prefix = '', at = gw) {
  const defaultHeaders = who === null ? {} : { 'X-API-Key': KEYS[who] };
  return new OpenAI({ apiKey: 'of-the-client', baseURL: `${at.url}${prefix}/v1`, maxRetries: 0, defaultHeaders });
}

describe('a consumer', () => {
  it.each(['', '/named', '/default'])('has a batch of its own from its file to its answers, at %j', async (prefix) => {
    const ann = clientOf('ann', prefix);
    const file = await uploaded(ann);
    expect(file).toMatchObject({ object: 'file', filename: 'lines.jsonl', purpose: 'batch', status: 'processed' });
    expect(await ann.files.retrieve(file.id)).toEqual(file);
    expect(await (await ann.files.content(file.id)).text()).toContain('"custom_id":"1"');
    const created = await ann.batches.create({ ...newBatch(file.id), metadata: { of: 'ann' } });
    expect(created).toMatchObject({ object: 'batch', input_file_id: file.id, metadata: { of: 'ann' } });
    const batch = await ended(ann, created.id);
    expect(batch).toMatchObject({ id: created.id, input_file_id: file.id, request_counts: { completed: 2 } });
    const answers = await ann.files.content(batch.output_file_id ?? '');
    expect(answers.headers.get('content-disposition')).toBe('attachment');
    expect(await answers.text()).toContain('of 2');
    expect(await ann.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(ann.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  it('cancels its batch', async () => {
    const ann = clientOf('ann');
    const { id } = await ann.batches.create(newBatch((await uploaded(ann)).id));
    expect(await ann.batches.cancel(id)).toMatchObject({ id, status: 'cancelling' });
    expect(await ann.batches.retrieve(id)).toMatchObject({ id, status: 'cancelled' });
  });

  it('has the same ids each time, at every pod, and never the provider’s, also in what that says of errors', async () => {
    const ann = clientOf('ann');
    const file = await uploaded(ann);
    expect((await clientOf('ann', '', other).files.retrieve(file.id)).id).toBe(file.id);
    await ann.files.delete(file.id);
    const gone = await ann.files.retrieve(file.id).catch((error: unknown) => error);
    expect(gone).toMatchObject({ message: expect.stringContaining(`No such File object: ${file.id}`) });
    const { id } = await ann.batches.create(newBatch((await uploaded(ann)).id));
    const texts = [file.id, String(gone), id, JSON.stringify(await ended(ann, id))];
    for (const own of [...kept.files, ...kept.batches]) expect(texts.join()).not.toContain(own);
  });
});

describe('another consumer', () => {
  it.each<[string, (client: OpenAI, file: string, batch: string) => Promise<unknown>]>([
    ['reads a file', (client, file) => client.files.retrieve(file)],
    ['reads its content', (client, file) => client.files.content(file)],
    ['deletes it', (client, file) => client.files.delete(file)],
    ['makes a batch of it', (client, file) => client.batches.create(newBatch(file))],
    ['reads a batch', (client, _, batch) => client.batches.retrieve(batch)],
    ['cancels it', (client, _, batch) => client.batches.cancel(batch)],
    ['takes a batch for a file', (client, _, batch) => client.files.retrieve(batch.replace('batch_', 'file-'))],
  ])('never %s, by its id or by the provider’s', async (_, ask) => {
    const ann = clientOf('ann');
    const file = await uploaded(ann);
    const batch = await ann.batches.create(newBatch(file.id));
    const before = chat.seen.length;
    const own = [kept.files.at(-1) ?? '', kept.batches.at(-1) ?? ''] as const;
    const forged = [file.id.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), `${batch.id}A`] as const;
    for (const client of [clientOf('bob'), clientOf('ann', '/other-key'), clientOf('ann', '/named')]) {
      for (const [each, of] of [[file.id, batch.id], own, forged]) {
        const refusal = await ask(client, each ?? '', of ?? '').catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(NotFoundError);
        expect(refusal).toMatchObject({ code: expect.stringMatching(/^(file|batch)_not_found$/) });
      }
    }
    expect(chat.seen.length).toBe(before);
  });

  it('gets no list of what there is', async () => {
    const before = chat.seen.length;
    for (const [name, list] of [
      ['files', () => clientOf('bob').files.list()],
      ['batches', () => clientOf('bob').batches.list()],
    ] as const) {
      const refusal = await list().then(null, (error: unknown) => error);
      expect(refusal).toBeInstanceOf(BadRequestError);
      expect(refusal).toMatchObject({ code: `${name}_list_not_supported` });
    }
    expect(chat.seen.length).toBe(before);
  });
});

describe('a client that nobody has authenticated', () => {
  it('has no files, unless the config says so; then they are not those of a consumer', async () => {
    const refusal = await uploaded(clientOf(null, '/open')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PermissionDeniedError);
    expect(refusal).toMatchObject({ code: 'consumer_required' });
    const { id } = await uploaded(clientOf(null, '/open-shared'));
    expect((await clientOf(null, '/open-shared').files.retrieve(id)).id).toBe(id);
    await expect(clientOf('ann', '/shared').files.retrieve(id)).rejects.toThrow(NotFoundError);
  });
});

describe('what goes to the provider', () => {
  it('has the credential of the gateway, and none of the client’s', async () => {
    await uploaded(clientOf('ann'));
    const headers = JSON.stringify(chat.seen.at(-1)?.headers);
    expect(headers).toContain(`Bearer ${CHAT_KEY}`);
    for (const secret of ['of-the-client', KEYS.ann, 'x-auth-consumer']) expect(headers).not.toContain(secret);
  });

  it('tells the client nothing of the account', async () => {
    const response = await fetch(`${gw.url}/v1/files/file-x`, { headers: { 'X-API-Key': KEYS.ann } });
    expect(response.headers.get('openai-organization')).toBeNull();
    const { id } = await uploaded(clientOf('ann'));
    const found = await fetch(`${gw.url}/v1/files/${id}`, { headers: { 'X-API-Key': KEYS.ann } });
    expect([found.status, found.headers.get('openai-organization')]).toEqual([200, null]);
  });

  const send = (path: string, init: RequestInit) =>
    fetch(`${gw.url}${path}`, { ...init, headers: { 'X-API-Key': KEYS.ann, ...init.headers } });
  const json = { 'content-type': 'application/json' };

  it.each([
    [{ model: 'gpt-4o' }, 'model'],
    [{ Input_File_Id: 'file-abc' }, 'Input_File_Id'],
    [{ output_file_id: 'file-abc' }, 'output_file_id'],
  ])('is no batch with a member that nobody has looked at: %j', async (more, param) => {
    const { id } = await uploaded(clientOf('ann'));
    const before = chat.seen.length;
    const response = await send('/v1/batches', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ ...newBatch(id), ...more }),
    });
    expect(await jsonOf(response)).toMatchObject({ status: 400, code: 'invalid_request', error: { param } });
    expect(chat.seen.length).toBe(before);
  });

  it.each([
    ['{"input_file_id":"a","input_file_id":"b"}', 400],
    ['{"input_file_id":5}', 400],
    ['', 400],
    ['[]', 400],
    ['{"input_file_id":"file-"}', 404],
    ['{"input_file_id":"file-AAAA"}', 404],
    ['{"input_file_id":"../files"}', 404],
  ])('is no batch of %j', async (body, status) => {
    expect((await send('/v1/batches', { method: 'POST', headers: json, body })).status).toBe(status);
  });

  it.each(['..%2Fbatches', '%', '%00', 'file-%2e%2e', 'a'.repeat(5000)])('is no path of %j', async (id) => {
    const before = chat.seen.length;
    const response = await send(`/v1/files/${id}`, {});
    expect([400, 404]).toContain(response.status);
    expect(chat.seen.length).toBe(before);
  });

  it('is no upload without a form, and no other method', async () => {
    const refused = await send('/v1/files', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' });
    expect([refused.status, (await jsonOf(refused))['code']]).toEqual([415, 'invalid_request']);
    const other = await send('/v1/files/file-x', { method: 'POST', headers: json, body: '{}' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, DELETE']);
  });
});

describe('a provider', () => {
  it.each(['messages', 'local'])('that has no files that pass is not asked: %s', async (name) => {
    const client = clientOf('ann', `/${name}`);
    await expect(uploaded(client)).rejects.toMatchObject({ status: 400, code: 'files_not_supported_for_provider' });
    await expect(client.batches.retrieve('batch_1')).rejects.toMatchObject({
      status: 400,
      code: 'batches_not_supported_for_provider',
    });
  });

  it('that is away is 502, and one that refuses says why', async () => {
    await expect(uploaded(clientOf('ann', '/nowhere'))).rejects.toMatchObject({ status: 502 });
    await expect(uploaded(clientOf('ann', '/wrong-key'))).rejects.toMatchObject({
      status: 502,
      code: 'provider_credential_refused',
    });
    const upload = clientOf('ann').files.create({ file: new File(['x'], 'x'), purpose: 'evals' });
    await expect(upload).rejects.toMatchObject({ status: 400, code: 'invalid_value' });
  });
});

describe('the tokens of a batch', () => {
  it('are counted when it has ended, once, however often it is asked for', async () => {
    const counted = async () => {
      const figures = await scrape(gw.admin);
      return ['prompt', 'completion'].map((type) =>
        figures.value('gw_plugin_ai_proxy_tokens_total', { provider: 'provider_chat', type }),
      );
    };
    const [prompt = 0, completion = 0] = await counted();
    const ann = clientOf('ann');
    const { id } = await ann.batches.create(newBatch((await uploaded(ann)).id));
    for (let i = 0; i < 3; i++) await ended(ann, id);
    expect(await counted()).toEqual([prompt + 210, completion + 80]);
  });
});
