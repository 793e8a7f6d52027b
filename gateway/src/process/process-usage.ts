/** Resource use of another process, seen and limited from outside (proc(5)). */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Milliseconds of a clock tick in /proc (USER_HZ is 100 on every Linux). */
const TICK_MS = 10;
/** Bytes of a page: systems that Node.js runs on in containers have pages of 4 KiB, or report too much. */
const PAGE = 4096;
/** A process of this niceness gets a quarter of a core that another one of niceness 0 wants, too. */
const BACKGROUND_NICENESS = 5;

/** Returns CPU milliseconds of all threads of a process; null if the process, or /proc, does not exist. */
export function cpuMsOf(pid: number | undefined): number | null {
  // Fields 14 and 15, counted behind the name of the program, which may hold anything (proc_pid_stat(5)).
  const fields = fieldsOf(pid);
  return fields === null ? null : (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Returns bytes of memory that a process uses; null if the process, or /proc, does not exist. */
export function residentBytesOf(pid: number | undefined): number | null {
  const fields = fieldsOf(pid);
  return fields === null ? null : Number(fields[21]) * PAGE;
}

/** Lets other processes run before this one, if they want the same core. Systems that refuse it leave it as it is. */
export function runInBackground(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, BACKGROUND_NICENESS);
  } catch {
    // The process has ended, or a sandbox keeps priorities.
  }
}

function fieldsOf(pid: number | undefined): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
