/** Validation of requests to an AsyncAPI operation: channel parameters, and the messages' headers and payload. */
import type { Content, MediaType, Parameter, RequestBody, WebSocketContent } from '../../artifact/format.ts';
import { parseTemplate, TemplateError } from '../../router/template.ts';
import { type Located, member, placeOf } from '../../spec/documents.ts';
import { get } from '../../spec/json.ts';
import type { DeclaredChannel, DeclaredMessage, DeclaredOperation } from '../../spec/operations.ts';
import { typesOf } from '../schemas/schema-types.ts';
import { messageHeadersOf } from './message-headers.ts';
import { type Deps, isAnyString, mediaTypeOf, textValueOf } from './parameters.ts';
import { schemaOf, type TypedSchema } from './schema-format.ts';

export interface ChannelInputs {
  readonly parameters: readonly Parameter[];
  readonly requestBody: RequestBody | undefined;
}

export function channelInputsOf({ path }: DeclaredOperation, channel: DeclaredChannel, deps: Deps): ChannelInputs {
  const parameters = pathParametersOf(path, channel, deps);
  if (channel.action === 'receive') return { parameters, requestBody: undefined };
  return {
    parameters: [...parameters, ...messageHeadersOf(channel.messages, deps)],
    requestBody: bodyOf(channel.messages, deps),
  };
}

/** Returns the parameters in the address; their values are strings in AsyncAPI. */
function pathParametersOf(path: string, { parameters }: DeclaredChannel, deps: Deps): Parameter[] {
  return namesIn(path).flatMap((name): Parameter[] => {
    const at = parameters.get(name);
    if (!at) return [];
    if (get(at.value, 'schema') !== undefined) {
      deps.diagnostics.add('E1008', placeOf(member(at, 'schema')), 'parameters of AsyncAPI 3 have no schema');
    }
    const values = get(at.value, 'enum');
    const value = { type: 'string', ...(values === undefined ? {} : { enum: values }) };
    const schema: Located = { document: at.document, pointer: at.pointer, value };
    return [
      { name, in: 'path', required: true, style: 'simple', explode: false, ...textValueOf(schema, '2020-12', deps) },
    ];
  });
}

function namesIn(path: string): readonly string[] {
  try {
    return parseTemplate(path).names;
  } catch (error) {
    // The check of paths reports it (E1022).
    if (error instanceof TemplateError) return [];
    throw error;
  }
}

/**
 * Returns the schemas of a channel's WebSocket messages: from clients, those that other operations send; to clients,
 * those that the operation receives. `sent`: whether these are validated, too.
 */
export function webSocketContentOf(channel: DeclaredChannel, sent: boolean, deps: Deps): WebSocketContent | undefined {
  const fromClients = checkable(
    bodyOf(
      channel.others.flatMap(({ messages }) => messages),
      deps,
    ),
  );
  const toClients = sent ? checkable(bodyOf(channel.messages, deps)) : undefined;
  if (!fromClients && !toClients) return undefined;
  return { ...(fromClients ? { received: fromClients } : {}), ...(toClients ? { sent: toClients } : {}) };
}

/** Returns the schemas of a broker's messages that the operation streams; undefined if any message may pass. */
export function streamedContentOf(channel: DeclaredChannel, deps: Deps): Content | undefined {
  return checkable(bodyOf(channel.messages, deps));
}

/** A message does not name its type: if those of one type may be anything, all may. */
function checkable(body: RequestBody | undefined): Content | undefined {
  if (!body || Object.values(body.content).some(({ schema }) => schema === undefined)) return undefined;
  return body.content;
}

/** Returns a body that is one of the messages; undefined without messages. */
function bodyOf(messages: readonly DeclaredMessage[], deps: Deps): RequestBody | undefined {
  if (messages.length === 0) return undefined;
  const byType = Map.groupBy(messages, ({ contentType }) => mediaTypeOf(contentType));
  const content: Content = Object.fromEntries([...byType].map(([type, some]) => [type, mediaOf(type, some, deps)]));
  return { required: messages.every(({ payload }) => payload.value !== undefined), content };
}

function mediaOf(type: string, messages: readonly DeclaredMessage[], deps: Deps): MediaType {
  const schemas = messages.map(({ payload }) => (payload.value === undefined ? null : schemaOf(payload, deps)));
  // If one message may be anything, no check remains.
  const known = schemas.filter((schema) => schema !== null);
  if (known.length < schemas.length) return {};
  if (type === 'application/json' || type.endsWith('+json')) return refOf(known, deps);
  if (type.startsWith('text/')) {
    if (known.some(({ at }) => isAnyString(at.value))) return {};
    return { ...refOf(known, deps), types: [...new Set(known.flatMap(({ at }) => typesOf(at, deps.documents)))] };
  }
  for (const { payload } of messages)
    deps.diagnostics.add('E1008', placeOf(payload), `payloads of content type ${type} are not validated`);
  return {};
}

function refOf(schemas: readonly TypedSchema[], { schemas: table }: Deps): MediaType {
  const ref = table.addAny(schemas.map(({ at, dialect }) => ({ located: at, dialect })));
  return ref ? { schema: ref } : {};
}
