/** Reports the names that a discriminator knows, if a value has another one or lacks it. */
import { _, type Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';
import { isObject } from '../../spec/json.ts';

/** Keyword of the table of schemas: `{property, names}`. */
export const NAMED_BY = 'x-gw-named-by';

export function addNamedBranch(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: NAMED_BY,
    type: 'object',
    schemaType: 'object',
    before: 'required',
    error: {
      message: ({ schema }) => _`${messageOf(schema)}`,
      params: ({ schemaCode }) => _`{discriminator: ${schemaCode}}`,
    },
    code: (cxt: KeywordCxt) => {
      const { gen, data } = cxt;
      const { property, names } = cxt.schema as { readonly property: string; readonly names: readonly string[] };
      const known = new Set<unknown>(names);
      const isNamed = (value: object) => Object.hasOwn(value, property) && known.has(Reflect.get(value, property));
      const test = gen.scopeValue('func', { ref: isNamed });
      cxt.pass(_`${test}(${data})`);
    },
  });
}

/** Names that a message has. */
const MOST = 20;

function messageOf(schema: unknown): string {
  const { property, names } = isObject(schema) ? schema : {};
  const all = Array.isArray(names) ? names.map((each) => JSON.stringify(each)) : [];
  const shown = all.length > MOST ? [...all.slice(0, MOST), `${all.length - MOST} others`] : all;
  return `must have a "${String(property)}" of ${shown.join(', ')}`;
}
