/** A multipart upload that a test sends as slowly as it likes. */
import { request } from 'node:http';
import { ADMIN_TOKEN } from './server.ts';

export interface UploadForm {
  readonly fields?: Readonly<Record<string, string>>;
  readonly filename: string;
  readonly bytes: Uint8Array;
  /** Default: the admin's. */
  readonly token?: string;
}

/** The status, or in words how the connection broke. */
type UploadOutcome = { readonly status: number } | { readonly broken: string };

const PIECE = 64 * 1024;

export interface HalfUpload {
  readonly outcome: Promise<UploadOutcome>;
  /** Sends the rest. */
  finish(): Promise<void>;
}

/** Sends the first half of the file. */
export async function halfUpload(
  url: string,
  { fields = {}, filename, bytes, token = ADMIN_TOKEN }: UploadForm,
): Promise<HalfUpload> {
  const boundary = crypto.randomUUID();
  const asked = request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  const outcome = new Promise<UploadOutcome>((resolve) => {
    asked.once('response', (response) => resolve({ status: response.statusCode ?? 0 }));
    asked.on('error', (error) => resolve({ broken: error.message }));
  });
  for (const [name, value] of Object.entries(fields)) {
    asked.write(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  asked.write(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\n\r\n`);
  const written = (piece: Uint8Array) => new Promise<void>((resolve) => asked.write(piece, () => resolve()));
  const send = async (part: Uint8Array) => {
    for (let at = 0; at < part.length && !asked.destroyed; at += PIECE) {
      await Promise.race([written(part.subarray(at, at + PIECE)), outcome]);
    }
  };
  const middle = Math.ceil(bytes.length / 2);
  await send(bytes.subarray(0, middle));
  return {
    outcome,
    finish: async () => {
      await send(bytes.subarray(middle));
      asked.end(`\r\n--${boundary}--\r\n`);
    },
  };
}

/** The same form, sent whole. */
export function wholeForm({ fields = {}, filename, bytes }: UploadForm): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([Buffer.from(bytes)]), filename);
  return form;
}
