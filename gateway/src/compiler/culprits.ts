/**
 * The operations that an error concerns (docs/decisions.md#left-out-operations): those in whose compilation it was
 * found, and those that hold its place or refer to the holder, over any number of references.
 */
import type { FoundError } from '../spec/diagnostic.ts';
import type { Document } from '../spec/document.ts';
import type { Documents } from '../spec/documents.ts';
import { get, isObject } from '../spec/json.ts';
import type { DeclaredOperation } from '../spec/operations.ts';
import { child } from '../spec/pointer.ts';
import { walk } from '../spec/walk.ts';

interface At {
  readonly file: string;
  readonly pointer: string;
}

/** Identifies an operation within a project. */
export function operationKey({ at }: Pick<DeclaredOperation, 'at'>): string {
  return `${at.document.file}#${at.pointer}`;
}

export class References {
  /** Places of references, by file and pointer of the target. */
  readonly #to = new Map<string, At[]>();

  /** Collects the references of documents, and of those that they refer to. */
  constructor(roots: readonly Document[], documents: Documents) {
    const seen = new Set<Document>();
    const waiting = [...roots];
    for (let document = waiting.pop(); document; document = waiting.pop()) {
      if (seen.has(document)) continue;
      seen.add(document);
      const { file } = document;
      const from = document;
      const note = (ref: string, pointer: string) => {
        const resolution = documents.resolve({ document: from, pointer }, ref);
        if (!resolution.ok) return;
        const { target } = resolution;
        const key = `${target.document.file}#${target.pointer}`;
        const places = this.#to.get(key) ?? [];
        places.push({ file, pointer });
        this.#to.set(key, places);
        waiting.push(target.document);
      };
      walk(document, {
        ref: note,
        object: (value, pointer) => {
          for (const each of mappingOf(value)) note(each, child(child(pointer, 'discriminator'), 'mapping'));
        },
      });
    }
  }

  /** The place itself, and every place from which references lead to it. */
  leadingTo(place: At): readonly At[] {
    const found = new Map([[`${place.file}#${place.pointer}`, place]]);
    const waiting = [place];
    for (let at = waiting.pop(); at; at = waiting.pop()) {
      for (const holder of holders(at.pointer)) {
        for (const from of this.#to.get(`${at.file}#${holder}`) ?? []) {
          const key = `${from.file}#${from.pointer}`;
          if (found.has(key)) continue;
          found.set(key, from);
          waiting.push(from);
        }
      }
    }
    return [...found.values()];
  }
}

/** The pointer, and those of all that holds it. */
function* holders(pointer: string): Iterable<string> {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    yield at;
    if (at === '') return;
  }
}

function mappingOf(value: object): readonly string[] {
  const mapping = get(get(value, 'discriminator'), 'mapping');
  if (!isObject(mapping)) return [];
  return Object.values(mapping).flatMap((each) => {
    if (typeof each !== 'string') return [];
    return /[/#.]/.test(each) ? [each] : [`#/components/schemas/${each}`];
  });
}

/** Keys of the operations that an error concerns. */
export function culpritsOf(
  error: FoundError,
  operations: readonly DeclaredOperation[],
  references: References,
): ReadonlySet<string> {
  const { file, pointer } = error;
  const found = new Set(error.operations);
  if (file === undefined || pointer === undefined) return found;
  const places = references.leadingTo({ file, pointer });
  for (const operation of operations) {
    const regions = regionsOf(operation);
    if (places.some((place) => regions.some((region) => isWithin(place, region)))) found.add(operationKey(operation));
  }
  return found;
}

/** Returns the places of an operation: itself, the shared parts of its path item, and its AsyncAPI channel. */
function regionsOf({ at, layers, channel }: DeclaredOperation): readonly At[] {
  const item = layers.dispatch.at(-2);
  const shared = item && item.pointer !== '' ? [{ ...placeIn(item), pointer: child(item.pointer, 'parameters') }] : [];
  return [placeIn(at), ...shared, ...(channel ? [placeIn(channel.at)] : [])];
}

function placeIn({ document, pointer }: { readonly document: Document; readonly pointer: string }): At {
  return { file: document.file, pointer };
}

function isWithin(place: At, region: At): boolean {
  return (
    place.file === region.file && (place.pointer === region.pointer || place.pointer.startsWith(`${region.pointer}/`))
  );
}
