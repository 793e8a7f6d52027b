/** Load by wrk or, over HTTP/2, by h2load, and the CPU time that a server spent on it. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Figures {
  readonly requestsPerSecond: number;
  /** Microseconds of the server's CPU time. */
  readonly cpuPerRequest: number;
  /** NaN where the tool does not say. */
  readonly p99Ms: number;
  readonly notOk: number;
}

export interface Load {
  readonly url: string;
  /** Process whose CPU time counts, with that of its children. */
  readonly pid: number;
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Path of a wrk script, for bodies. */
  readonly script?: string;
  readonly http2?: boolean;
}

type Answered = Omit<Figures, 'cpuPerRequest'> & { readonly requests: number };

export async function measure(load: Load): Promise<Figures> {
  const before = cpuTime(load.pid);
  const { requests, ...figures } = await (load.http2 ? h2load(load) : wrk(load));
  return { ...figures, cpuPerRequest: (cpuTime(load.pid) - before) / requests };
}

/** User and system time of a process and its children, in microseconds; clock ticks are 10 ms on Linux. */
export function cpuTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) * 10_000;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? own : children.split(' ').reduce((sum, child) => sum + cpuTime(Number(child)), own);
}

/** Memory of a process and its children in MiB, what they share counted once (PSS). */
export function memoryMiB(pid: number): number {
  const own = Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? own : children.split(' ').reduce((sum, child) => sum + memoryMiB(Number(child)), own);
}

const UNITS: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

async function wrk({ url, seconds, headers = {}, script }: Load): Promise<Answered> {
  const args = ['-t1', '-c32', `-d${seconds}s`, '--latency', ...headerArguments(headers)];
  if (script) args.push('-s', script);
  const { stdout } = await run('wrk', [...args, url]);
  const [, value = 'NaN', unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0),
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    p99Ms: Number(value) * (UNITS[unit] ?? 1),
    notOk: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
  };
}

/** As many requests in flight as with wrk: eight connections with four streams each. */
async function h2load({ url, seconds, headers = {} }: Load): Promise<Answered> {
  const { stdout } = await run('h2load', ['-c8', '-m4', `-D${seconds}`, ...headerArguments(headers), url]);
  const requests = Number(/(\d+) 2xx/.exec(stdout)?.[1] ?? 0);
  const [, rate = '0'] = /finished in [^,]*, ([\d.]+) req\/s/.exec(stdout) ?? [];
  const others = /2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/.exec(stdout)?.slice(1) ?? ['NaN'];
  const notOk = others.reduce((sum, each) => sum + Number(each), 0);
  return { requests, requestsPerSecond: Number(rate), p99Ms: Number.NaN, notOk };
}

/** Quantiles at a steady rate of requests a second, on 32 connections. */
export async function latencyAt(
  { url, seconds, headers = {} }: Load,
  rate: number,
  folder: string,
): Promise<{ readonly p50Ms: number; readonly p99Ms: number }> {
  const log = join(folder, 'latency.log');
  const each = Math.max(1, Math.round(rate / 32));
  await run('h2load', [
    '--h1',
    '-c32',
    `--rps=${each}`,
    `-D${seconds}`,
    `--log-file=${log}`,
    ...headerArguments(headers),
    url,
  ]);
  const took = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split('\t')[2]) / 1000)
    .sort((a, b) => a - b);
  rmSync(log);
  const at = (quantile: number) => took[Math.floor(took.length * quantile)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

function headerArguments(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
