import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import type { HostileTask } from '../../test/fixtures/tasks/hostile-worker.ts';
import { TaskLimitError, TaskProcess } from './task-process.ts';

const file = new URL('../../test/fixtures/tasks/hostile-worker.ts', import.meta.url);
const limits = { timeoutMs: 60_000, memoryMb: 64 };

describe('a process for tasks', () => {
  const tasks = new TaskProcess<HostileTask, string>({ file, work: 'the task' });
  const run = (task: HostileTask, more: object = {}) => tasks.run(() => task, { ...limits, ...more });
  afterAll(() => tasks.close());

  it.each<readonly [HostileTask, object, string]>([
    ['endless', { timeoutMs: 500 }, 'the task took more than 0.5 s'],
    ['buffers', {}, 'the task took more than 576 MiB of memory'],
    ['heap', {}, 'the task took more than 64 MiB of memory'],
  ])('is ended by %s, which is said, and the next task is done', async (task, more, message) => {
    const failure = await run(task, more).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TaskLimitError);
    expect(String(failure)).toContain(message);
    expect(await run('echo')).toBe('echo');
  });

  it('that ends by itself is a defect', async () => {
    await expect(run('crash')).rejects.toThrow('the process for the task ended: 7');
    expect(await run('echo')).toBe('echo');
  });

  it('ends, and with it the program that has used it, once it is closed', async () => {
    const module = new URL('./task-process.ts', import.meta.url).href;
    const program = `
      import { TaskProcess } from ${JSON.stringify(module)};
      const tasks = new TaskProcess({ file: new URL(${JSON.stringify(file.href)}), work: 'the task' });
      const limits = { timeoutMs: 60_000, memoryMb: 64 };
      await tasks.run(() => 'echo', limits);
      await tasks.close();
      console.log('closed');`;
    const args = ['--input-type=module', '--eval', program];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('closed\n');
  });

  it('knows nothing of the environment of the one that asks', async () => {
    process.env['GW_TEST_SECRET'] = 'secret';
    expect(JSON.parse(await run('environment'))).not.toHaveProperty('GW_TEST_SECRET');
    delete process.env['GW_TEST_SECRET'];
  });

  it('gives owners their turns, and refuses tasks once closed', async () => {
    const done: string[] = [];
    const other = new TaskProcess<HostileTask, string>({ file, work: 'the task' });
    const ask = (owner: string) => other.run(() => 'echo', limits, owner).then(() => done.push(owner));
    await Promise.all([ask('busy'), ask('busy'), ask('busy'), ask('quiet')]);
    expect(done.indexOf('quiet')).toBeLessThan(3);
    await other.close();
    await expect(ask('busy')).rejects.toThrow('the process for the task is closed');
  });
});
