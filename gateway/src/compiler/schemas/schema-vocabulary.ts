/** Which keywords a schema's own dialect gives a meaning: `$schema`, `$vocabulary` (JSON Schema 2020-12, section 8.1). */
import type { Documents, Located } from '../../spec/documents.ts';
import { get, isObject } from '../../spec/json.ts';
import { valueAt } from '../../spec/pointer.ts';
import type { Resource } from '../../spec/resources.ts';

const VALIDATION = 'https://json-schema.org/draft/2020-12/vocab/validation';
/** Dialects that are known to validate, and are not files of a project. */
const PUBLISHED = /^https?:\/\/(json-schema\.org|spec\.openapis\.org)\//;

export class Vocabularies {
  readonly #documents: Documents;
  readonly #known = new Map<Resource, boolean>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Reports whether `type`, `minimum` and the like are more than annotations at this schema. */
  validates(schema: Located): boolean {
    const resource = this.#documents.resourceAt(schema);
    const known = this.#known.get(resource);
    if (known !== undefined) return known;
    const verdict = this.#judge(resource);
    this.#known.set(resource, verdict);
    return verdict;
  }

  #judge({ document, pointer }: Resource): boolean {
    const dialect = get(valueAt(document.value, pointer), '$schema');
    if (typeof dialect !== 'string' || PUBLISHED.test(dialect)) return true;
    const found = this.#documents.resolve({ document, pointer }, dialect);
    const vocabulary = found.ok ? get(found.target.value, '$vocabulary') : undefined;
    return !isObject(vocabulary) || Object.hasOwn(vocabulary, VALIDATION);
  }
}
