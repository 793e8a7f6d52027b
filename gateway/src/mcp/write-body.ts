/** The body of a tool's request, of its arguments. */
import { randomBytes } from 'node:crypto';
import type { FormField, Operation } from '../artifact/format.ts';
import type { ToolBody } from '../artifact/tools.ts';
import { isJson } from '../headers/media-type.ts';
import type { Obj } from '../spec/json.ts';
import { ToolFault } from './tool-fault.ts';
import { hasMembers, isStructured, queryPairs, textOf } from './write-styles.ts';

export interface WrittenBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** `value`: of the argument that is the body, or the object of those that are its properties. */
export function writeBody(body: ToolBody, operation: Operation, value: unknown): WrittenBody {
  const { content_type: contentType, encoding } = body;
  switch (encoding) {
    case 'json':
      return { contentType: contentType === '*/*' ? 'application/json' : contentType, bytes: jsonBytes(value) };
    case 'text':
      return { contentType, bytes: Buffer.from(plainBody(value)) };
    case 'base64':
      return { contentType, bytes: bytesOf(value, 'body') };
    default: {
      if (!hasMembers(value)) throw new ToolFault('The body must be an object.');
      const fields = operation.request_body?.content[contentType]?.fields ?? [];
      return encoding === 'form' ? writeForm(value, fields, contentType) : writeParts(value, fields, body);
    }
  }
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function plainBody(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Decodes base64, in either alphabet. */
function bytesOf(value: unknown, name: string): Buffer {
  if (typeof value === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) return Buffer.from(value, 'base64');
  throw new ToolFault(`"${name}" must be the base64 of bytes.`);
}

function fieldOf(name: string, fields: readonly FormField[]): FormField {
  return fields.find((each) => each.name === name) ?? { name, style: 'form', explode: true, types: [] };
}

function writeForm(value: Obj, fields: readonly FormField[], contentType: string): WrittenBody {
  const pairs = Object.entries(value).flatMap(([name, each]) => formPairs(fieldOf(name, fields), each));
  return { contentType, bytes: Buffer.from(pairs.join('&')) };
}

function formPairs(field: FormField, value: unknown): string[] {
  const several = field.content_type !== undefined && field.types.includes('array') && Array.isArray(value);
  return several ? value.flatMap((each) => queryPairs(field, each)) : queryPairs(field, value);
}

function writeParts(value: Obj, fields: readonly FormField[], { binary = [] }: ToolBody): WrittenBody {
  // The boundary is made after the parts are known, so that a part cannot contain it.
  const boundary = `gw-${randomBytes(18).toString('hex')}`;
  const parts = Object.entries(value).flatMap(([name, each]) => {
    const field = fieldOf(name, fields);
    const isBinary = binary.includes(name);
    const own = Array.isArray(each) && (isBinary || field.types.includes('array')) ? each : [each];
    return own.map((one) => part(field, one, isBinary, boundary));
  });
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

function part(field: FormField, value: unknown, isBinary: boolean, boundary: string): Buffer {
  const { name } = field;
  if (/["\\\r\n\0]/.test(name)) throw new ToolFault(`A field of a form cannot have the name ${JSON.stringify(name)}.`);
  const structured = isStructured(value);
  const declared = field.part_types?.find((type) => !type.includes('*')) ?? field.content_type;
  const type = declared ?? (isBinary ? 'application/octet-stream' : structured ? 'application/json' : undefined);
  const content = isBinary
    ? bytesOf(value, name)
    : Buffer.from(structured || (type !== undefined && isJson(type)) ? JSON.stringify(value) : textOf(value));
  const file = isBinary ? `; filename="${name}"` : '';
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n` +
    `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`;
  return Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n')]);
}
