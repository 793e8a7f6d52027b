/** A request, and its response, in the engine's form: as they were sent, byte for byte. */
import type { Exchange } from '../../kit.ts';
import { FrameWriter } from './frame-writer.ts';

/** Parts of a transaction that run in an inspection; bits of a number in the frame. */
export const PHASES = { requestHead: 1 << 1, requestBody: 1 << 2, response: (1 << 3) | (1 << 4), end: 1 << 5 } as const;

/** Beside them: the verdict tells what became of each rule. */
export const TELLS_RULES = 1 << 6;

/** The gateway does not keep the version; rules on it look for others than those that HTTP servers speak. */
const PROTOCOL = 'HTTP/1.1';

export interface InspectedResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** The request, as far as rules see it; `rawHeaders`: names and values in turn. */
export type InspectedHead = Pick<Exchange, 'clientIp' | 'method' | 'target' | 'requestId'> & {
  readonly rawHeaders: readonly string[];
  readonly protocol?: string;
};

/** What of a body is inspected: the whole, or its beginning. */
export interface InspectedBody {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** `phases`: bits of PHASES; `body`: null without one. */
export function requestFrame(
  settings: Uint8Array,
  phases: number,
  { clientIp, method, target, rawHeaders, requestId, protocol = PROTOCOL }: InspectedHead,
  body: InspectedBody | null,
  response: InspectedResponse | null = null,
): Uint8Array {
  const frame = new FrameWriter(settings.length + target.length + 4096 + (body?.bytes.length ?? 0));
  frame.raw(settings).number(phases).text(clientIp).text(method).text(target).text(protocol);
  writeHeaders(frame, rawHeaders);
  frame.text(requestId).number(Math.floor(Date.now() / 1000));
  if (body === null) frame.number(0);
  else frame.number(body.isWhole ? 1 : 2).bytes(body.bytes);
  frame.number(response === null ? 0 : 1);
  if (response !== null) {
    frame.number(response.status);
    writeHeaders(frame, response.headers);
    frame.bytes(response.body);
  }
  return frame.taken();
}

/** Names and values in turn. */
function writeHeaders(frame: FrameWriter, headers: readonly string[]): void {
  frame.number(headers.length / 2);
  for (const text of headers) frame.text(text);
}
