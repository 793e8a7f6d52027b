/** Watches the resident memory of a process. */
import { readFileSync } from 'node:fs';

export interface WatchedMemory {
  readonly peakMb: number;
  /** Means over the first and the last tenth of the time. */
  readonly firstMb: number;
  readonly lastMb: number;
}

const INTERVAL_MS = 100;

export function watchMemory(pid: number): { stop(): WatchedMemory } {
  const samples = [residentMb(pid)];
  const sampling = setInterval(() => samples.push(residentMb(pid)), INTERVAL_MS);
  return {
    stop() {
      clearInterval(sampling);
      const tenth = Math.max(1, Math.floor(samples.length / 10));
      const firstMb = mean(samples.slice(0, tenth));
      return { peakMb: Math.max(...samples), firstMb, lastMb: mean(samples.slice(-tenth)) };
    },
  };
}

function residentMb(pid: number): number {
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
