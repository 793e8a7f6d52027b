import { describe, expect, it } from 'vitest';
import { checksumIn } from './checksum.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

describe('a file of checksums', () => {
  it.each([
    ['a bare hash', `${A}\n`, A],
    ['sha256sum in text mode', `${A}  books.yaml\n`, A],
    ['sha256sum in binary mode', `${A} *books.yaml\r\n`, A],
    ['with a folder', `${A}  ./dist/books.yaml\n`, A],
    ['of several files', `${B}  other.yaml\n${A}  books.yaml\n`, A],
    ['in the form of BSD', `SHA256 (books.yaml) = ${A}\n`, A],
    ['in capitals, with a comment', `# release 1\n${A.toUpperCase()}  books.yaml\n`, A],
    ['the only one, under another name', `${A}  published.yaml\n`, A],
    ['of several others', `${A}  a.yaml\n${B}  b.yaml\n`, undefined],
    ['that contradicts itself', `${A}  books.yaml\n${B}  books.yaml\n`, undefined],
    ['of another kind', `${'a'.repeat(128)}  books.yaml\n`, undefined],
    ['that is a page', '<html>not found</html>', undefined],
    ['that is empty', '', undefined],
  ])('%s', (_, text, expected) => {
    expect(checksumIn(text, 'books.yaml')).toBe(expected);
  });
});
