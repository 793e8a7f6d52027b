/** Errors that do not depend on the statement: a retry of the same may succeed. */
import { DatabaseError } from 'pg';
import { DatabaseUnavailable } from './unavailable.ts';

/** Classes of SQLSTATE: connection, rolled back, out of resources, in use, stopped by an operator. */
const CLASSES = new Set(['08', '40', '53', '55', '57']);

/** Reports whether the disk is full: the same statement fails until somebody frees space. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '53100';
}

/** Reports whether the connection broke, or the server is unavailable or stops. */
export function isTransient(error: unknown): boolean {
  if (isDiskFull(error)) return false;
  if (error instanceof DatabaseError) return CLASSES.has(error.code?.slice(0, 2) ?? '');
  return error instanceof DatabaseUnavailable;
}
