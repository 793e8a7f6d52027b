/** Errors that say nothing of the statement: the same one may succeed when it is made again. */
import { DatabaseError } from 'pg';
import { DatabaseUnavailable } from './unavailable.ts';

/** Classes of SQLSTATE: connection, rolled back, out of resources, in use, stopped by an operator. */
const CLASSES = new Set(['08', '40', '53', '55', '57']);

/** Its disk is full: the same statement fails until somebody makes room. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '53100';
}

/** The connection broke, or the server is away or stops. */
export function isTransient(error: unknown): boolean {
  if (isDiskFull(error)) return false;
  if (error instanceof DatabaseError) return CLASSES.has(error.code?.slice(0, 2) ?? '');
  return error instanceof DatabaseUnavailable;
}
