/** Bodies as routes.json carries them: by media type, schemas by reference, forms with how their fields are read. */
import type { Content, MediaType, RequestBody } from '../../artifact/format.ts';
import { isJson } from '../../headers/media-type.ts';
import { type Located, member, placeOf } from '../../spec/documents.ts';
import { flagOf } from '../../spec/flag.ts';
import { followed, followedPart } from '../../spec/follow-object.ts';
import { isObject, kindOf } from '../../spec/json.ts';
import { MEDIA_TYPE, warnOfMisspelt } from '../../spec/misspelt-fields.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import type { Dialect } from '../../spec/recognise.ts';
import { SCHEMA_KEYWORDS } from '../../spec/schema-keywords.ts';
import type { Direction } from '../schemas/schema-table.ts';
import { typesOf } from '../schemas/schema-types.ts';
import { formFieldsOf, isForm } from './form-fields.ts';
import { type Deps, isAnyString, mediaTypeOf } from './parameters.ts';

export function requestBodyOf({ requestBody, spec }: DeclaredOperation, deps: Deps): RequestBody | undefined {
  if (!requestBody) return undefined;
  const content = followedPart(member(requestBody, 'content'), '"content"', deps.documents, deps.diagnostics);
  if (!isObject(content.value)) {
    const place = content.value === undefined ? requestBody : content;
    deps.diagnostics.add(
      'E1004',
      placeOf(place),
      `"content" of a request body is ${kindOf(content.value)}: it must be an object of media types`,
      'Write content: { application/json: { schema: { type: object } } }.',
    );
    return undefined;
  }
  const required = flagOf(requestBody, 'required', deps.diagnostics) === true;
  return { required, content: contentOf(content, spec.dialect, 'request', deps) };
}

/** `content`: an object of media types. */
export function contentOf(content: Located, dialect: Dialect, direction: Direction, deps: Deps): Content {
  const names = isObject(content.value) ? Object.keys(content.value) : [];
  return Object.fromEntries(
    names.flatMap((name): [string, MediaType][] => {
      const media = followed(member(content, name), deps.documents, deps.diagnostics);
      if (!media) return [];
      if (!isObject(media.value)) {
        deps.diagnostics.add(
          'E1004',
          placeOf(media),
          `media type "${name}" is ${kindOf(media.value)}: it must be an object`,
          `Write ${name}: { schema: { type: object } }, or ${name}: {}.`,
        );
        return [];
      }
      warnOfMisspelt(media, MEDIA_TYPE, deps.diagnostics);
      const type = mediaTypeOf(name);
      const schema = member(media, 'schema');
      warnOfMisspelt(schema, SCHEMA_KEYWORDS, deps.diagnostics);
      const free = schema.value === undefined || (type.startsWith('text/') && isAnyString(schema.value));
      const isRead = isJson(type) || (direction === 'request' && isForm(type));
      const ref = free ? undefined : deps.schemas[isRead ? 'addRead' : 'add'](schema, dialect, direction);
      if (!ref) return [[type, {}]];
      const fields = direction === 'request' && isForm(type) ? formFieldsOf(media, type, deps) : null;
      const types = type.startsWith('text/') ? typesOf(schema, deps.documents) : null;
      return [[type, { schema: ref, ...(fields ? { fields } : {}), ...(types ? { types } : {}) }]];
    }),
  );
}
