/**
 * The files of an uploaded spec: a document, or a tar of one and what it refers to
 * (docs/reference/control-plane.md#console).
 */

/** Contents by path; a document has the path `entry`. Throws where the bytes are no such archive. */
export async function filesOf(bytes: Blob, filename: string, entry: string): Promise<ReadonlyMap<string, string>> {
  if (/\.(tar\.gz|tgz)$/.test(filename)) {
    return untar(await new Response(bytes.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
  }
  if (filename.endsWith('.tar')) return untar(await bytes.arrayBuffer());
  return new Map([[entry, await bytes.text()]]);
}

const BLOCK = 512;
const REGULAR = ['0', '\0'];

/** The server has taken the archive, so it is one: what it refuses (links, odd types) is passed over here. */
function untar(buffer: ArrayBuffer): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const text = (from: number, length: number) =>
    new TextDecoder().decode(new Uint8Array(buffer, from, length)).replace(/\0.*$/s, '');
  let longName = '';
  for (let at = 0; at + BLOCK <= buffer.byteLength; ) {
    const name = text(at, 100);
    if (name === '') break;
    const size = Number.parseInt(text(at + 124, 12), 8);
    const type = String.fromCharCode(new Uint8Array(buffer, at + 156, 1)[0] ?? 0);
    if (!Number.isSafeInteger(size) || at + BLOCK + size > buffer.byteLength) throw new Error('the archive is cut off');
    const content = text(at + BLOCK, size);
    if (type === 'x') longName = /\d+ path=([^\n]*)\n/.exec(content)?.[1] ?? '';
    if (REGULAR.includes(type)) {
      const prefix = text(at + 257, 6).startsWith('ustar') ? text(at + 345, 155) : '';
      files.set((longName || (prefix ? `${prefix}/${name}` : name)).replace(/^\.\//, ''), content);
      longName = '';
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
