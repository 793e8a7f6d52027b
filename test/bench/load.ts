/** Load by wrk, and the CPU time that a server spent on it. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Figures {
  readonly requestsPerSecond: number;
  /** Microseconds of the server's CPU time. */
  readonly cpuPerRequest: number;
  readonly p99Ms: number;
  readonly notOk: number;
}

export interface Load {
  readonly url: string;
  /** Processes whose CPU time counts. */
  readonly pids: readonly number[];
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Path of a wrk script, for bodies. */
  readonly script?: string;
}

/** User and system time of a process, in microseconds; clock ticks are 10 ms on Linux. */
function cpuTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

const UNITS: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

export async function measure({ url, pids, seconds, headers = {}, script }: Load): Promise<Figures> {
  const total = () => pids.reduce((sum, pid) => sum + cpuTime(pid), 0);
  const before = total();
  const args = ['-t1', '-c32', `-d${seconds}s`, '--latency'];
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`);
  if (script) args.push('-s', script);
  const { stdout } = await run('wrk', [...args, url]);
  const used = total() - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0);
  const [, value = 'NaN', unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    cpuPerRequest: used / requests,
    p99Ms: Number(value) * (UNITS[unit] ?? 1),
    notOk: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
