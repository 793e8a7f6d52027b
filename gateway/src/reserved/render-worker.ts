/** Reads, strips, merges and writes specs in a thread of its own: a large document takes seconds. */

import { parentPort } from 'node:worker_threads';
import { dump } from 'js-yaml';
import { isObject } from '../spec/json.ts';
import { parseText } from '../spec/parse.ts';
import { messageOf } from '../text/message-of.ts';
import { merge, withoutExtensions } from './served-spec.ts';

export type SpecFormat = 'json' | 'yaml';

export interface RenderJob {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly format: SpecFormat;
}

export type RenderReply = { readonly text: string } | { readonly failure: string };

function render({ files, format }: RenderJob): string {
  const documents = files.map(({ name, bytes }) => {
    const parsed = parseText(bytes);
    if (!parsed.ok) throw new Error(`${name}: ${parsed.message}`);
    const document = withoutExtensions(parsed.value);
    if (!isObject(document)) throw new Error(`${name} holds no object`);
    return { name, document };
  });
  const merged = merge(documents);
  return format === 'json' ? JSON.stringify(merged, null, 2) : dump(merged, { lineWidth: 120, noRefs: true });
}

parentPort?.once('message', (job: RenderJob) => {
  let reply: RenderReply;
  try {
    reply = { text: render(job) };
  } catch (error) {
    reply = { failure: messageOf(error) };
  }
  parentPort?.postMessage(reply);
});
