/** Responses with everything for answering by example: examples, and schemas with the examples in them. */
import type { DescribedResponse, DescribedValue, Json } from '../../artifact/format.ts';
import { type Located, member, placeOf } from '../../spec/documents.ts';
import { followed, followedPart } from '../../spec/follow-object.ts';
import { isObject } from '../../spec/json.ts';
import type { Dialect } from '../../spec/recognise.ts';
import { type Deps, mediaTypeOf } from './parameters.ts';

/** Places in a document that describe a value: media types and headers. */
type Place = readonly [name: string, at: Located];

export function describedResponsesOf(
  declared: readonly Place[],
  dialect: Dialect,
  deps: Deps,
): { readonly [status: string]: DescribedResponse } {
  return Object.fromEntries(
    declared.map(([status, response]) => {
      const described = (keyword: string, nameOf: (name: string) => string) =>
        Object.fromEntries(
          placesOf(member(response, keyword), deps).map(([name, at]) => [
            nameOf(name),
            describedValue(at, dialect, deps),
          ]),
        );
      const headers = described('headers', (name) => name.toLowerCase());
      const content = described('content', mediaTypeOf);
      return [status, { content, ...(Object.keys(headers).length > 0 ? { headers } : {}) }];
    }),
  );
}

/** Members that are objects, or lead to one. */
function placesOf(declared: Located, { documents, diagnostics }: Deps): readonly Place[] {
  const all = followedPart(declared, 'a map', documents, diagnostics);
  const names = isObject(all.value) ? Object.keys(all.value) : [];
  return names.flatMap((name): Place[] => {
    const found = followed(member(all, name), documents, diagnostics);
    return found && isObject(found.value) ? [[name, found]] : [];
  });
}

function describedValue(at: Located, dialect: Dialect, deps: Deps): DescribedValue {
  const schema = member(at, 'schema');
  const ref = schema.value === undefined ? undefined : deps.schemas.addExemplary(schema, dialect);
  const itemSchema = member(at, 'itemSchema');
  const items = itemSchema.value === undefined ? undefined : deps.schemas.addExemplary(itemSchema, dialect);
  return { ...(ref ? { schema: ref } : {}), ...(items ? { items } : {}), ...examplesOf(at, deps) };
}

/**
 * Returns `example`, and those of `examples` whose value is in the document. Of several forms of one, the serialized
 * text counts (OpenAPI 3.2, Example Object).
 */
function examplesOf(at: Located, deps: Deps): Pick<DescribedValue, 'examples' | 'serialized'> {
  const example = member(at, 'example');
  const single = example.value;
  warnOfReference(example, deps);
  const examples: [string, Json][] = single === undefined ? [] : [['', single as Json]];
  const serialized: string[] = [];
  for (const [name, place] of placesOf(member(at, 'examples'), deps)) {
    const { value } = place;
    if (!isObject(value)) continue;
    warnOfReference(member(place, 'value'), deps);
    const { value: given = value['dataValue'], serializedValue: text } = value;
    if (typeof text === 'string') serialized.push(name);
    const answer = typeof text === 'string' ? text : given;
    if (answer !== undefined) examples.push([name, answer as Json]);
  }
  return {
    ...(examples.length > 0 ? { examples: Object.fromEntries(examples) } : {}),
    ...(serialized.length > 0 ? { serialized: serialized.sort() } : {}),
  };
}

/** Values of examples are data, whatever they hold. */
function warnOfReference(example: Located, { diagnostics }: Deps): void {
  if (!isObject(example.value) || typeof example.value['$ref'] !== 'string') return;
  const message = 'the value of an example is data: this $ref is answered as it stands';
  diagnostics.add('E1008', placeOf(member(example, '$ref')), message, 'Refer to the example itself, under "examples".');
}
