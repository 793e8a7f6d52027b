/** Output of a tool: the schema that its operation's successful responses share, if any. */
import { canonicalJson } from '../../artifact/canonical-json.ts';
import type { Json } from '../../artifact/format.ts';
import { isJson } from '../../headers/media-type.ts';
import { type Located, member } from '../../spec/documents.ts';
import { followed } from '../../spec/follow-object.ts';
import { isObject } from '../../spec/json.ts';
import type { DeclaredOperation } from '../../spec/operations.ts';
import { type Deps, mediaTypeOf } from '../operations/parameters.ts';
import { declaredResponses } from '../operations/responses.ts';
import { typesOf } from '../schemas/schema-types.ts';

/** Returns undefined if a success may have no content, content that is not JSON, or different schemas. */
export function toolOutput({ at, spec, channel }: DeclaredOperation, deps: Deps): Json | undefined {
  if (channel) return undefined;
  const good = declaredResponses(at, deps).filter(([status]) => status.startsWith('2'));
  const schemas = good.map(([, response]) => jsonSchemaOf(response, deps));
  if (schemas.length === 0 || schemas.includes(null)) return undefined;
  const refs = schemas.map((schema) => schema && refTo(schema, deps, spec.dialect));
  const [first] = refs;
  if (!first || new Set(refs.map((each) => canonicalJson(each ?? null))).size > 1) return undefined;
  return first;
}

function refTo(schema: Located, deps: Deps, dialect: DeclaredOperation['spec']['dialect']): Json | null {
  const ref = deps.schemas.addDescribed(schema, dialect, 'response');
  if (!ref) return null;
  const types = typesOf(schema, deps.documents);
  return { ...(types.length === 1 && types[0] === 'object' ? { type: 'object' } : {}), $ref: ref.$ref };
}

/** Returns null if the content is absent, or not JSON alone. */
function jsonSchemaOf(response: Located, deps: Deps): Located | null {
  const content = deps.documents.follow(member(response, 'content'));
  const names = isObject(content?.value) ? Object.keys(content.value) : [];
  const [name] = names;
  if (!content || name === undefined || names.length > 1 || !isJson(mediaTypeOf(name))) return null;
  const media = followed(member(content, name), deps.documents, deps.diagnostics);
  const schema = media ? member(media, 'schema') : null;
  return schema && schema.value !== undefined ? schema : null;
}
