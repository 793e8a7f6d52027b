/** The file with the addresses of named upstreams (`--upstreams`, docs/upstreams.md#addresses). */
import { readFile, stat } from 'node:fs/promises';
import { type Bindings, bindingsOf } from '../egress/named/bindings.ts';
import { UpstreamError } from '../egress/named/upstream-error.ts';
import { pollForChange } from '../files/poll-for-change.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import { messageOf } from '../text/message-of.ts';

type Options = Pick<ServeOptions, 'upstreams' | 'allowPlaintextUpstream' | 'dev' | 'upstreamsMayBeMissing'>;

/** Returns the addresses; none without a file. Rejects with UpstreamError, which names the file. */
export async function readUpstreams(options: Options): Promise<Bindings> {
  const { upstreams: path, allowPlaintextUpstream, dev } = options;
  if (path === undefined) return {};
  const bytes = await bytesOf(path, options);
  if (bytes === null) return {};
  const { parseText } = await import('../spec/parse.ts');
  const parsed = parseText(bytes);
  if (!parsed.ok) throw new UpstreamError(`${path}: ${parsed.message}. ${parsed.hint}`);
  try {
    return bindingsOf(parsed.value, allowPlaintextUpstream || dev);
  } catch (error) {
    throw new UpstreamError(`${path}: ${messageOf(error)}`, { cause: error });
  }
}

async function bytesOf(path: string, { upstreamsMayBeMissing }: Options): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (upstreamsMayBeMissing === true && isMissing(error)) return null;
    const reason = isMissing(error) ? 'there is no such file' : messageOf(error);
    throw new UpstreamError(`cannot read --upstreams ${path}: ${reason}`, { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Calls `changed` when the file has been replaced, as `pollForChange` does. Returns the function that ends it. */
export function watchUpstreams(path: string, changed: () => Promise<void>): () => void {
  return pollForChange(async () => {
    const { dev, ino, size, mtimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs].join();
  }, changed);
}
