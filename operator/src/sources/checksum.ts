/** Files of checksums, in the form of sha256sum. */

const LINE = /^\\?([0-9a-fA-F]{64})(?:[ \t]+[ *]?(.*))?$/;

/**
 * Returns the sha256 of the named file, in hex: from a line `HEX  NAME`, or from the only line; undefined if there is
 * no such line. Reads BSD's form (`SHA256 (NAME) = HEX`) too.
 */
export function checksumIn(text: string, name: string): string | undefined {
  const found = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readLine);
  const entries = found.filter((entry) => entry !== undefined);
  const named = entries.filter((entry) => baseName(entry.name) === name);
  if (named.length > 0) return new Set(named.map(({ sha256 }) => sha256)).size === 1 ? named[0]?.sha256 : undefined;
  return found.length === 1 ? entries[0]?.sha256 : undefined;
}

function readLine(line: string): { readonly sha256: string; readonly name: string } | undefined {
  const bsd = /^SHA256 \((.*)\) = ([0-9a-fA-F]{64})$/.exec(line);
  const sha256 = bsd?.[2] ?? LINE.exec(line)?.[1];
  if (sha256 === undefined) return undefined;
  return { sha256: sha256.toLowerCase(), name: bsd?.[1] ?? LINE.exec(line)?.[2] ?? '' };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
