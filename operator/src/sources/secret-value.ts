import type { Secret } from '../api/resources.ts';
import { SourceError } from './source.ts';

/** Returns the bytes of a Secret's key. Throws SourceError if the key does not exist. */
export function secretValue({ metadata, data }: Secret, key: string): Buffer {
  const base64 = data?.[key];
  if (base64 === undefined) throw new SourceError('SourceNotFound', `Secret "${metadata.name}" has no key "${key}"`);
  return Buffer.from(base64, 'base64');
}
