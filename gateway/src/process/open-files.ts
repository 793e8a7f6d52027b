/** How many files and connections this process may have open. */
import { readFileSync } from 'node:fs';

/** Parts of the limit: the rest is for kept connections to upstreams, and for the gateway's own files. */
const FOR_CLIENTS = 1 / 2;
const FOR_UPSTREAMS = 1 / 5;

/** Returns the soft limit of open files; infinity if the system does not say. */
export function openFileLimit(path = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(path, 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Connections of clients that `workers` processes may hold together. */
export function connectionsWithin(wanted: number, workers: number, files: number): number {
  return Math.min(wanted, Math.max(1, Math.floor(files * FOR_CLIENTS * workers)));
}

/** Calls to upstreams that one of `workers` processes may have under way. Each has a connection of its own. */
export function upstreamCallsWithin(wanted: number, workers: number, files: number): number {
  return Math.max(1, Math.floor(Math.min(wanted / workers, files * FOR_UPSTREAMS)));
}
