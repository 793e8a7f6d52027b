/** Keywords of schemas that mean something in another version of OpenAPI (E1076): one warning for each in a document. */
import type { Diagnostics } from '../../spec/diagnostic.ts';
import { type Located, member, placeOf } from '../../spec/documents.ts';
import type { Obj } from '../../spec/json.ts';
import type { Dialect } from '../../spec/recognise.ts';

interface Found {
  readonly says: string;
  readonly first: Located;
  /** Pointers: a schema is read for requests and for responses. */
  readonly places: Set<string>;
}

const NULLABLE = '"nullable" is a keyword of OpenAPI 3.0 alone: null is not valid here unless "type" names it';
const TYPES = 'a list under "type" is of OpenAPI 3.1: it is enforced as there, and other readers of 3.0 may refuse it';

export class ForeignKeywords {
  /** Keywords by document and name. */
  readonly #found = new Map<string, Found>();

  note(schema: Located, value: Obj, dialect: Dialect): void {
    if (dialect === '3.0' && Array.isArray(value['type'])) this.#add(member(schema, 'type'), TYPES);
    if (dialect !== '3.0' && value['nullable'] === true) this.#add(member(schema, 'nullable'), NULLABLE);
  }

  #add(at: Located, says: string): void {
    const key = `${at.document.file}\0${says}`;
    const found = this.#found.get(key) ?? { says, first: at, places: new Set() };
    this.#found.set(key, found);
    found.places.add(at.pointer);
  }

  report(diagnostics: Diagnostics): void {
    for (const { says, first, places } of this.#found.values()) {
      const others = places.size === 1 ? '' : ` (${places.size} times in this document)`;
      diagnostics.add('E1076', placeOf(first), `${says}${others}`);
    }
    this.#found.clear();
  }
}
