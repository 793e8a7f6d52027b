/** The gzip around an artifact's tar: a fixed header out, no bombs and no tails in. */
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { errorCode } from '../text/error-code.ts';
import { ArtifactError } from './error.ts';

/** Bytes of an archive once unpacked; a specification of 10 MB with its routes takes 20. */
export const MAX_UNPACKED_BYTES = 256 << 20;

/** The header byte that names the operating system; 255 is "unknown" (RFC 1952), the same everywhere. */
const OS_BYTE = 9;

export async function compress(tar: Uint8Array): Promise<Buffer> {
  const bytes = await promisify(gzip)(tar, { level: constants.Z_DEFAULT_COMPRESSION });
  bytes[OS_BYTE] = 255;
  return bytes;
}

/** Throws ArtifactError: not gzip, cut short, damaged, followed by other bytes, or larger than the limit. */
export async function decompress(bytes: Uint8Array, maxBytes = MAX_UNPACKED_BYTES): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    throw new ArtifactError('malformed', 'it is not an artifact: a .gwa file is a gzip-compressed tar archive');
  }
  const [tar, consumed] = await new Promise<[Buffer, number]>((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: maxBytes, info: true }, (error, result) => {
      if (error) return reject(refusal(error, maxBytes));
      // With `info` the result has the buffer and the engine, which the types leave out.
      const { buffer, engine } = result as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
      resolve([buffer, engine.bytesWritten]);
    });
  });
  if (consumed !== bytes.length) throw new ArtifactError('malformed', 'the archive is malformed: bytes follow its end');
  return tar;
}

function refusal(error: Error, maxBytes: number): ArtifactError {
  const code = errorCode(error);
  if (code === 'ERR_BUFFER_TOO_LARGE') {
    return new ArtifactError('too-large', `the archive unpacks to more than ${maxBytes} bytes`, { cause: error });
  }
  const what = code === 'Z_BUF_ERROR' ? 'it is cut short' : 'its compression is damaged';
  return new ArtifactError('malformed', `the archive is malformed: ${what}`, { cause: error });
}
