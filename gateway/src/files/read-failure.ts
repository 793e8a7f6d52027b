import { errorCode } from '../text/error-code.ts';
import { messageOf } from '../text/message-of.ts';

/** Returns why a file could not be read, in words. */
export function readFailure(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'ENOTDIR') return 'it is not a folder';
  return messageOf(error);
}
