/** Parts that both surfaces write alike. */

import { isObject, isWrittenNumber, parseAsWritten } from '../../../../kit.ts';
import type { Source, Tool } from '../conversation/conversation.ts';
import type { Members } from '../conversation/json-reader.ts';
import { type AiRefusal, invalid, refusal } from '../conversation/refusal.ts';

/** `data:<media type>;base64,<data>`, or a URL that the provider fetches. */
export function sourceOf(url: string, at: string): Source {
  if (/^https?:\/\//i.test(url)) return { kind: 'url', url };
  const [, mediaType, data] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,;]+)*;base64,([\s\S]*)$/i.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) throw invalid(at, 'an https: URL or a data: URL in Base64');
  return { kind: 'base64', mediaType: registeredType(mediaType), data };
}

/** As it is registered: providers refuse other names of it. */
export function registeredType(mediaType: string): string {
  const lower = mediaType.toLowerCase();
  return OTHER_NAMES.get(lower) ?? lower;
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['application/x-pdf', 'application/pdf'],
]);

/** The input of a call, which clients send as JSON text; a call without input has an empty one. */
export function callInput(call: Members, name: string): Readonly<Record<string, unknown>> {
  const text = call.requiredText(name);
  if (text.trim() === '') return {};
  try {
    const input = parseAsWritten(text);
    if (isObject(input) && !isWrittenNumber(input)) return input;
  } catch {
    // Refused below.
  }
  throw invalid(call.at(name), 'the text of a JSON object');
}

/** A function as both surfaces describe it. */
export function functionTool(described: Members): Tool {
  return {
    name: described.requiredText('name'),
    description: described.text('description'),
    schema: described.member('parameters')?.object ?? null,
    strict: described.flag('strict') === true,
  };
}

export function customTools(param: string): AiRefusal {
  const code = 'custom_tools_not_supported_for_provider';
  return refusal('validation-failed', code, 'The provider of this model takes tools of type function only.', { param });
}
