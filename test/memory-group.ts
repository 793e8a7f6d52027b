/** A control group with a limit of memory, as a container has one; of Linux, for whoever may make one. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MemoryGroup {
  /** The command that a program is put behind to run in the group. */
  readonly within: readonly string[];
  /** Processes of the group that the kernel has ended for want of memory. */
  killed(): number;
  /** The most bytes that were in use. */
  peak(): number;
  remove(): void;
}

const FILES = {
  v1: {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    events: 'memory.oom_control',
  },
  v2: { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak', events: 'memory.events' },
};

/** Returns null if none can be made here. */
export function memoryGroup(bytes: number): MemoryGroup | null {
  const { root, limit, peak, events } = existsSync(FILES.v1.root) ? FILES.v1 : FILES.v2;
  const dir = join(root, `gw-test-${process.pid}-${performance.now().toFixed(0)}`);
  try {
    mkdirSync(dir);
    writeFileSync(join(dir, limit), String(bytes));
  } catch {
    if (existsSync(dir)) rmdirSync(dir);
    return null;
  }
  const read = (file: string) => readFileSync(join(dir, file), 'utf8');
  return {
    within: ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', join(dir, 'cgroup.procs')],
    killed: () => Number(/^oom_kill (\d+)/m.exec(read(events))?.[1] ?? Number.NaN),
    peak: () => Number(read(peak)),
    remove: () => rmdirSync(dir),
  };
}
