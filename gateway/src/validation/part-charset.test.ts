import { describe, expect, it } from 'vitest';
import type { FormField } from '../artifact/format.ts';
import { readParts } from './form.ts';

const fields: FormField[] = [{ name: 'name', style: 'form', explode: true, types: ['string'] }];
const part = (name: string, body: string, type?: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n${body}\r\n`;
const passes = (...parts: string[]) =>
  'value' in readParts(fields, 'multipart/form-data; boundary=b', Buffer.from(`${parts.join('')}--b--`));

describe('a part of a form that is read as text', () => {
  it.each([
    'text/plain; charset=cp037',
    'text/plain; CHARSET="utf-7"',
    'text/plain; charset',
    'application/json;charset=utf-16',
  ])('is refused in another charset: %s', (type) => expect(passes(part('name', '"a"', type))).toBe(false));

  it.each([
    undefined,
    'text/plain',
    'text/plain; charset=UTF-8',
    'text/plain; charset=us-ascii',
    'image/png; charset=cp037',
  ])('passes in UTF-8, and as bytes: %s', (type) => expect(passes(part('name', '"a"', type))).toBe(true));

  it('is refused if _charset_ names another', () => {
    expect(passes(part('_charset_', 'cp037'), part('name', 'a'))).toBe(false);
    expect(passes(part('_charset_', 'UTF-8'), part('name', 'a'))).toBe(true);
  });
});
