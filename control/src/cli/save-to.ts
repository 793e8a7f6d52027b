/** Downloads to a file, whole or not at all, or to standard output. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Program } from './program.ts';

export async function saveTo(response: Response, file: string | undefined, { output }: Program): Promise<void> {
  const body = Readable.from(response.body ?? []);
  if (file === undefined || file === '-') return pipeline(body, output, { end: false });
  const temporary = `${file}.${process.pid}.part`;
  try {
    await pipeline(body, createWriteStream(temporary, { flags: 'wx' }));
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
