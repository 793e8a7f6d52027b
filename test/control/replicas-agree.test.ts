/**
 * Replicas agree where one data plane is and what time it is (docs/reference/control-plane.md#replicas), on a database
 * that several have.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../eventually.ts';
import { NO_SERVER, unopenedDatabase } from './database.ts';
import { Plane, Project } from './fleet.ts';
import { type ControlServer, startControl } from './server.ts';

const HOUR_MS = 3_600_000;
const SKEWED = pathToFileURL(join(import.meta.dirname, 'skewed-clock.mjs')).href;

describe.skipIf(NO_SERVER)('replicas (need DATABASE_URL)', () => {
  let database: Awaited<ReturnType<typeof unopenedDatabase>>;
  let one: ControlServer;
  /** Its clock is an hour behind. */
  let two: ControlServer;
  beforeAll(async () => {
    database = await unopenedDatabase('postgres');
    one = await startControl({ databaseUrl: database.url, args: ['--admin-bind', 'off'] });
    const env = { NODE_OPTIONS: `--import=${SKEWED}`, GW_TEST_CLOCK_SKEW_MS: String(-HOUR_MS) };
    two = await startControl({ databaseUrl: database.url, args: ['--admin-bind', 'off'], env });
  });
  afterAll(async () => {
    await one?.stop();
    await two?.stop();
    await database?.drop();
  });

  it('hold one connection of an instance id, the latest, whichever of them it came to', async () => {
    const project = await Project.create(one);
    // The earlier one waits for long before it comes again.
    const times = { firstMs: 60_000, mostMs: 60_000, slowMs: 60_000 };
    const earlier = new Plane(one.url, project, 'twin', { times });
    onTestFinished(() => earlier.stop());
    await eventually(() => expect(earlier.connected).toBe(true));
    const later = new Plane(two.url, project, 'twin', { times });
    onTestFinished(() => later.stop());
    await eventually(() => expect(later.connected).toBe(true));
    await eventually(() => expect([earlier.connected, earlier.ends]).toEqual([false, ['replaced']]));
    expect(later.connected).toBe(true);
    const planes = await one.get<{ status: string }[]>(`/projects/${project.id}/data-planes`);
    expect(planes).toMatchObject([{ name: 'twin', status: 'connected' }]);
  });

  it('go by the time of the database: for expiry, in the audit log, for data planes', async () => {
    const soon = new Date(Date.now() + 2_000).toISOString();
    const json = { name: 'brief', role: 'viewer', expires_at: soon };
    const { token } = await two.get<{ token: string }>('/tokens', { method: 'POST', json });
    for (const replica of [one, two]) expect((await replica.ask('/whoami', { token })).status).toBe(200);
    for (const replica of [one, two]) {
      await eventually(async () => expect((await replica.ask('/whoami', { token })).status).toBe(401));
    }
    const past = { name: 'past', role: 'viewer', expires_at: new Date(Date.now() - HOUR_MS / 2).toISOString() };
    // It would be to come by the clock of this replica.
    expect((await two.ask('/tokens', { method: 'POST', json: past })).status).toBe(422);
    const project = await Project.create(two);
    const plane = new Plane(two.url, project, 'edge');
    onTestFinished(() => plane.stop());
    await eventually(() => expect(plane.connected).toBe(true));
    const [entry] = await one.get<{ at: string }[]>('/audit?limit=1');
    const [row] = await one.get<{ connected_at: string }[]>(`/projects/${project.id}/data-planes`);
    const { updated_at } = await one.get<{ updated_at: string }>(`/projects/${project.id}`).then(async () => {
      const body = new FormData();
      body.append('file', new Blob(['openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths: {}\n']), 'clock.yaml');
      const { id } = await two.get<{ id: string }>('/specs', { method: 'POST', body });
      return one.get<{ updated_at: string }>(`/specs/${id}`);
    });
    for (const time of [entry?.at, row?.connected_at, updated_at]) {
      expect(Math.abs(Date.parse(time ?? '') - Date.now())).toBeLessThan(HOUR_MS / 2);
    }
  });
});
