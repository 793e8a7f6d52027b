/** Uploads in turns, over real HTTP: what is under way is counted, and all are answered. */
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { ControlError } from '../errors.ts';
import { UploadQueue } from './upload-queue.ts';

const LIMITS = { most: 4, mostOfProject: 2, mostWaiting: 20, lookMs: 60_000 };

describe('uploads', () => {
  let server: ReturnType<typeof createServer>;
  /** Projects of those under way, in the order in which they began. */
  let begun: string[];
  let ends: (() => void)[];
  let underWay: Map<string, number>;
  let peak: { all: number; project: number };
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function start(limits: object = LIMITS): Promise<void> {
    const queue = new UploadQueue(limits);
    [begun, ends, underWay, peak] = [[], [], new Map(), { all: 0, project: 0 }];
    server = createServer((request, response) => {
      const project = request.url ?? '';
      const take = async () => {
        begun.push(project);
        request.resume();
        underWay.set(project, (underWay.get(project) ?? 0) + 1);
        peak.all = Math.max(peak.all, sum(underWay.values()));
        peak.project = Math.max(peak.project, ...underWay.values());
        await new Promise<void>((resolve) => ends.push(resolve));
        underWay.set(project, (underWay.get(project) ?? 0) - 1);
      };
      queue.run({ project, person: String(request.headers['x-person'] ?? 'one') }, request, take).then(
        () => response.writeHead(201).end(),
        (error: unknown) => response.writeHead(error instanceof ControlError ? error.status : 500).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }

  /** Its answer, and what leaves before there is one. */
  function upload(project: string, { person = 'one', whole = true } = {}) {
    const { port } = server.address() as AddressInfo;
    const request = send({ port, path: project, method: 'POST', agent: false, headers: { 'x-person': person } });
    request.on('error', () => {});
    if (whole) request.end();
    else request.write('x');
    const status = new Promise<number>((resolve) => {
      request.once('response', (answer) => resolve(answer.resume().statusCode ?? 0));
      request.once('close', () => resolve(0));
    });
    return { status, leave: () => request.destroy() };
  }

  /** Ends each as soon as it has begun, until all are answered. */
  async function answers(uploads: readonly { readonly status: Promise<number> }[]): Promise<number[]> {
    let done = false;
    const all = Promise.all(uploads.map(({ status }) => status)).finally(() => {
      done = true;
    });
    await eventually(() => {
      for (const end of ends.splice(0)) end();
      expect(done).toBe(true);
    });
    return all;
  }

  it('are so many at once, in all and of a project, and all are answered', async () => {
    await start();
    const uploads = ['/a', '/b', '/c'].flatMap((project) => Array.from({ length: 7 }, () => upload(project)));
    expect(await answers(uploads)).toEqual(uploads.map(() => 201));
    expect(peak).toEqual({ all: 4, project: 2 });
  });

  it('take turns by project: one waits for no hundred of another', async () => {
    await start();
    const many = Array.from({ length: 12 }, () => upload('/many'));
    await eventually(() => expect(begun).toEqual(['/many', '/many']));
    const one = upload('/one');
    await eventually(() => expect(begun.slice(2)).toEqual(['/one']));
    expect(await answers([...many, one])).toEqual([...many, one].map(() => 201));
  });

  it('that are too many are refused at the project that has most of them', async () => {
    await start();
    const others = ['/b', '/c'].flatMap((project) => Array.from({ length: 2 }, () => upload(project)));
    await eventually(() => expect(begun.length).toBe(4));
    const many = Array.from({ length: 30 }, () => upload('/many'));
    const answered: number[] = [];
    for (const { status } of many) void status.then((each) => answered.push(each));
    // Twenty may wait.
    await eventually(() => expect(answered).toEqual(Array(10).fill(503)));
    const late = Array.from({ length: 5 }, () => upload('/b'));
    await eventually(() => expect(answered).toEqual(Array(15).fill(503)));
    const fine = [...others, ...late];
    expect(await answers(fine)).toEqual(fine.map(() => 201));
    await answers(many);
    expect(answered.toSorted()).toEqual([...Array(15).fill(201), ...Array(15).fill(503)]);
  });

  it('whose client leaves give their place back', async () => {
    await start();
    const first = Array.from({ length: 2 }, () => upload('/a'));
    await eventually(() => expect(begun.length).toBe(2));
    const leaving = Array.from({ length: 5 }, () => upload('/a'));
    for (const each of leaving) each.leave();
    await Promise.all(leaving.map(({ status }) => status));
    const last = upload('/a');
    expect(await answers([...first, last])).toEqual([201, 201, 201]);
    expect(underWay.get('/a')).toBe(0);
  });

  it('give way to those of another person, the slowest of who has most first', async () => {
    await start();
    const slow = Array.from({ length: 3 }, () => upload('/a', { person: 'slow', whole: false }));
    await eventually(() => expect(begun.length).toBe(2));
    const other = upload('/a', { person: 'other' });
    await eventually(() => expect(begun.length).toBe(3));
    const statuses = slow.map(({ status }) => status);
    expect(await Promise.race(statuses)).toBe(503);
    expect((await answers([other]))[0]).toBe(201);
    for (const each of slow) each.leave();
  });

  it('that have come are not ended for others', async () => {
    await start();
    const first = Array.from({ length: 2 }, () => upload('/a', { person: 'quick' }));
    await eventually(() => expect(begun.length).toBe(2));
    const other = upload('/a', { person: 'other' });
    expect(await answers([...first, other])).toEqual([201, 201, 201]);
  });

  it('that stall are ended, and those that wait for the server are not', async () => {
    await start({ ...LIMITS, lookMs: 5 });
    const whole = upload('/a');
    const stalled = upload('/a', { whole: false });
    expect(await stalled.status).toBe(408);
    expect(await answers([whole])).toEqual([201]);
  });
});

const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, each) => all + each, 0);
