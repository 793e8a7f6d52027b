/** Ids as people write them: whole, by name, by hash, or by a unique beginning of either. */
import { ApiError } from '../client/api-error.ts';

/** A resource that may match. */
export interface Candidate {
  readonly id: string;
  /** Exact. */
  readonly name?: string | undefined;
  /** `sha256:<hex>`: the beginning is enough. */
  readonly hash?: string | null | undefined;
}

export interface Wanted {
  /** Kind of the resource, such as `artifact`. */
  readonly what: string;
  /** The name or id as the user wrote it. */
  readonly given: string;
  /** The command that lists them. */
  readonly list: string;
  /** Whether the first of several with one hash is chosen. Default: they are ambiguous. */
  readonly firstOfHash?: boolean;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Characters of an id: lists show its end in the console, all of it in the terminal. */
const LEAST_OF_ID = 6;

export const isId = (text: string): boolean => UUID.test(text);

/**
 * Returns the matching id; fetches `candidates` only if the id is not complete. Throws ApiError for no match and for
 * several.
 */
export async function findId(wanted: Wanted, candidates: () => Promise<readonly Candidate[]>): Promise<string> {
  const { what, given, list } = wanted;
  if (isId(given)) return given;
  const found = fitting(wanted, await candidates());
  const [first] = found;
  if (first === undefined) throw new ApiError(`there is no ${what} "${given}": see ${list}`, 404);
  if (found.length === 1) return first.id;
  const ids = found.slice(0, 5).map(({ id }) => id);
  const more = found.length > ids.length ? `, and ${found.length - ids.length} more` : '';
  throw new ApiError(
    `${found.length} match "${given}" as ${what}: choose one by its id, of ${ids.join(', ')}${more}`,
    409,
  );
}

/** Returns matches of the first kind that has any: a name may look like the beginning of a hash. */
function fitting({ given, firstOfHash = false }: Wanted, all: readonly Candidate[]): readonly Candidate[] {
  const named = all.filter(({ name }) => name === given);
  if (named.length > 0) return named;
  const text = given.toLowerCase();
  const hex = text.replace(/^sha256:/, '');
  const hashed = hex === '' ? [] : all.filter(({ hash }) => hash?.startsWith(`sha256:${hex}`));
  if (hashed.length > 0) {
    const isOne = new Set(hashed.map(({ hash }) => hash)).size === 1;
    return firstOfHash && isOne ? hashed.slice(0, 1) : hashed;
  }
  if (text.length < LEAST_OF_ID) return [];
  return all.filter(({ id }) => id.startsWith(text) || id.endsWith(text));
}
