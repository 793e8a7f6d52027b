/**
 * The name of a spec, out of the name of its file, and the name of its document, out of the spec's
 * (docs/reference/control-plane.md#spec-names).
 */
import { ControlError } from '../../errors.ts';

/** Names that `/__gw/specs/NAME` serves itself. */
const TAKEN = ['openapi', 'asyncapi'];

/**
 * Returns the base name without extension, in the characters that names may have. Throws 400 if nothing of it is left,
 * and 422 for a name, given or derived, that the gateway reserves.
 */
export function specName(filename: string, given: string | undefined): string {
  const name = given ?? nameOf(filename);
  if (name === '') {
    throw new ControlError(
      'bad-request',
      `no name can be derived from the file name "${filename}": give one as "name"`,
    );
  }
  if (TAKEN.includes(name)) {
    const detail = `a spec may not be named "${name}": /__gw/specs/${name} is the merged one. Give another as "name" (gw-control specs push FILE --name NAME)`;
    throw new ControlError('unprocessable', detail);
  }
  return name;
}

/** Returns the name of a document in the compiled project: the spec's name with the file's extension. */
export function documentName(name: string, filename: string): string {
  return name + (/\.(?:ya?ml|json)$/i.exec(filename)?.[0] ?? '.yaml');
}

function nameOf(filename: string): string {
  const stem = filename.replace(/\.(tar\.gz|tgz|tar|ya?ml|json)$/i, '');
  const plain = stem.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 63);
  return plain.replaceAll(/^[._-]+|[._-]+$/g, '');
}
