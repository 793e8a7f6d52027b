/** Uploads of one person that do not go on, beside those of another (docs/decisions.md#shared-limits). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlServer, startControl } from './server.ts';
import { halfUpload, wholeForm } from './slow-upload.ts';

const spec = (title: string) => ({
  filename: `${title}.json`,
  bytes: Buffer.from(JSON.stringify({ openapi: '3.1.0', info: { title, version: '1' }, paths: {} })),
});

let control: ControlServer;
beforeAll(async () => {
  control = await startControl();
});
afterAll(async () => {
  await control?.stop();
});

it('do not keep others from their project, and end', async () => {
  const { id } = await control.get<{ id: string }>('/projects', { method: 'POST', json: { name: 'shop' } });
  const { token } = await control.get<{ token: string }>('/tokens', {
    ...{ method: 'POST', json: { name: 'ci', role: 'editor' } },
  });
  const url = `${control.url}/projects/${id}/specs`;
  const stalled = await Promise.all([1, 2, 3, 4].map((each) => halfUpload(url, { ...spec(`s${each}`), token })));
  const outcomes = stalled.map(({ outcome }) => outcome);
  for (const title of ['first', 'second']) {
    const answer = await control.ask(`/projects/${id}/specs`, { method: 'POST', body: wholeForm(spec(title)) });
    expect(answer.status).toBe(201);
  }
  const statuses = (await Promise.all(outcomes)).map((outcome) =>
    'status' in outcome ? outcome.status : outcome.broken,
  );
  // Each upload of the other person takes at most one place of the four; the rest end as too slow.
  expect(statuses.filter((status) => status !== 408 && status !== 503)).toEqual([]);
  expect(statuses.filter((status) => status === 408).length).toBeGreaterThanOrEqual(2);
  expect(statuses).toContain(503);
  const answer = await control.ask(`/projects/${id}/specs`, { token, method: 'POST', body: wholeForm(spec('third')) });
  expect(answer.status).toBe(201);
  expect(await control.get<readonly unknown[]>(`/projects/${id}/specs`)).toHaveLength(3);
});
