/**
 * The operations of an AsyncAPI 3 document that requests can be (docs/reference/gateway.md#asyncapi). `action` says
 * what the application does, and the gateway is its HTTP side: an application that `send`s takes a message by POST on
 * the channel's address and passes it on. Messages that the application `receive`s come from the broker: with a
 * dispatcher that streams them, by GET on that address; without one the operation has no route.
 */
import type { Diagnostics } from './diagnostic.ts';
import { type Documents, type Located, member, placeOf } from './documents.ts';
import { followedPart, followObject } from './follow-object.ts';
import { nearestDispatch } from './inheritance.ts';
import { get, isObject, kindOf } from './json.ts';
import { followMerged, type MergedObject } from './merged-reference.ts';
import { ASYNC_OPERATION, warnOfMisspelt } from './misspelt-fields.ts';
import type { DeclaredChannel, DeclaredMessage, DeclaredOperation, Layers } from './operations.ts';
import { pointerTokens } from './pointer.ts';
import type { Spec } from './recognise.ts';
import { withTraits } from './traits.ts';

/** Type of messages without one, in a document without a default. */
const DEFAULT_CONTENT_TYPE = 'application/json';

export function asyncOperationsOf(spec: Spec, documents: Documents, diagnostics: Diagnostics): DeclaredOperation[] {
  const reader = new AsyncOperationReader(spec, documents, diagnostics);
  const operations = followedPart(member(reader.root, 'operations'), '"operations"', documents, diagnostics);
  if (!isObject(operations.value)) return [];
  const found = Object.keys(operations.value).flatMap((name) =>
    name.startsWith('x-') ? [] : reader.operation(name, member(operations, name)),
  );
  const byChannel = Map.groupBy(found, ({ channel }) => placeKey(channel?.at));
  return found.map((operation) => withOthers(operation, byChannel.get(placeKey(operation.channel?.at)) ?? []));
}

/** `all`: those of its channel. */
function withOthers(operation: DeclaredOperation, all: readonly DeclaredOperation[]): DeclaredOperation {
  const { channel } = operation;
  if (!channel) return operation;
  const others = all.flatMap(({ layers, channel: other }) =>
    other && other.action !== channel.action
      ? [{ dispatcher: get(nearestDispatch(layers)?.value, 'name'), messages: other.messages }]
      : [],
  );
  return { ...operation, channel: { ...channel, others } };
}

function placeKey(at: Located | undefined): string {
  return `${at?.document.file}#${at?.pointer}`;
}

class AsyncOperationReader {
  readonly root: Located;
  readonly #spec: Spec;
  readonly #documents: Documents;
  readonly #diagnostics: Diagnostics;
  readonly #contentType: string;

  constructor(spec: Spec, documents: Documents, diagnostics: Diagnostics) {
    this.root = { document: spec.document, pointer: '', value: spec.document.value };
    this.#spec = spec;
    this.#documents = documents;
    this.#diagnostics = diagnostics;
    this.#contentType = this.#text(member(this.root, 'defaultContentType')) ?? DEFAULT_CONTENT_TYPE;
  }

  operation(name: string, declared: Located): DeclaredOperation[] {
    const found = followMerged(declared, 'an operation', this.#documents, this.#diagnostics);
    if (!found) return [];
    this.#warnOfMembersBeside(found);
    warnOfMisspelt(found.at, ASYNC_OPERATION, this.#diagnostics);
    const { merged: at, sources } = withTraits(found.at, this.#documents, this.#diagnostics);
    const layers = { dispatch: [this.root, at], middlewares: [this.root, ...sources.toReversed()] };
    const action = member(at, 'action');
    if (action.value === 'receive' && !nearestDispatch(layers)?.value) return [];
    if (action.value !== 'send' && action.value !== 'receive') {
      const place = action.value === undefined ? at : action;
      this.#diagnostics.add(
        'E1004',
        placeOf(place),
        `"action" of "${name}" must be "send" or "receive"`,
        'Write action: send if clients send the messages to the API, action: receive if the API sends them to clients.',
      );
      return [];
    }
    const channel = this.#object(member(at, 'channel'), `the channel of "${name}"`);
    const address = channel && this.#address(name, layers, channel);
    if (!channel || address === null) return [];
    return [
      {
        spec: this.#spec,
        at,
        layers,
        path: address,
        pathAt: placeOf(member(channel, 'address')),
        method: action.value === 'send' ? 'POST' : 'GET',
        operationId: name,
        parameters: [],
        channel: {
          parameters: this.#parameters(channel),
          messages: this.#messages(at, channel),
          action: action.value,
          at: channel,
          others: [],
        },
        security: this.#security(sources),
      },
    ];
  }

  /** Returns the path. Returns null, with a diagnostic, if the channel lacks one. */
  #address(name: string, layers: Layers, channel: Located): string | null {
    const dispatch = nearestDispatch(layers);
    const at = layers.dispatch.at(-1) ?? channel;
    const address = member(channel, 'address');
    if (typeof address.value === 'string') {
      if (/[?#]/.test(address.value)) {
        this.#diagnostics.add(
          'E1004',
          placeOf(address),
          `address "${address.value}" has a query or a fragment`,
          'Remove "?" or "#" and what follows it; declare the query in the bindings of the channel.',
        );
        return null;
      }
      return address.value.startsWith('/') ? address.value : `/${address.value}`;
    }
    if (address.value !== undefined && address.value !== null) {
      this.#diagnostics.add(
        'E1004',
        placeOf(address),
        `"address" is ${kindOf(address.value)}: it must be a string`,
        'Write the path as a string, such as address: orders/{orderId}.',
      );
    } else if (dispatch === null || dispatch.isInherited) {
      const why = dispatch === null ? 'has no x-gw-dispatch' : 'has a channel without an address';
      this.#diagnostics.add('E1020', placeOf(at), `operation "${name}" ${why}: it is not served`);
    } else if (dispatch.value !== false) {
      this.#diagnostics.add(
        'E1022',
        placeOf(channel),
        `the channel of "${name}" has no address, so that there is no path to serve it on`,
        'Give the channel an "address", such as orders/{orderId}.',
      );
    }
    return null;
  }

  #parameters(channel: Located): DeclaredChannel['parameters'] {
    const map = this.#part(member(channel, 'parameters'), '"parameters"');
    return new Map(
      this.#keys(map).flatMap((name): [string, Located][] => {
        const parameter = this.#object(member(map, name), 'a parameter');
        return parameter ? [[name, parameter]] : [];
      }),
    );
  }

  /** Returns the messages that the operation lists; without a list, all of the channel. */
  #messages(at: Located, channel: Located): DeclaredMessage[] {
    const list = this.#part(member(at, 'messages'), '"messages"');
    if (list.value !== undefined && !Array.isArray(list.value)) {
      this.#diagnostics.add(
        'E1004',
        placeOf(list),
        `"messages" is ${kindOf(list.value)}: it must be a list`,
        'Write messages: [{ $ref: "#/channels/NAME/messages/NAME" }].',
      );
      return [];
    }
    const all = this.#part(member(channel, 'messages'), '"messages"');
    const declared = Array.isArray(list.value)
      ? list.value.map((_, i) => member(list, i))
      : this.#keys(all).map((name) => member(all, name));
    return declared.flatMap((each) => {
      const message = this.#object(each, 'a message');
      return message ? [this.#message(message)] : [];
    });
  }

  #message(message: Located): DeclaredMessage {
    const { merged, sources } = withTraits(message, this.#documents, this.#diagnostics);
    const headers = sources.map((each) => member(each, 'headers')).filter(({ value }) => value !== undefined);
    return {
      at: message,
      payload: member(message, 'payload'),
      headers,
      contentType: this.#text(member(merged, 'contentType')) ?? this.#contentType,
    };
  }

  #security(sources: readonly Located[]): Located[] {
    const security = sources.map((each) => member(each, 'security')).find(({ value }) => value !== undefined);
    if (!security) return [];
    if (!Array.isArray(security.value)) {
      this.#diagnostics.add(
        'E1004',
        placeOf(security),
        `"security" is ${kindOf(security.value)}: it must be a list of security schemes`,
        'Write security: [{ $ref: "#/components/securitySchemes/NAME" }].',
      );
      return [];
    }
    return security.value.map((_, i) => member(security, i));
  }

  #keys(map: Located): readonly string[] {
    const name = pointerTokens(map.pointer)?.at(-1) ?? '';
    if (isObject(map.value)) return Object.keys(map.value);
    if (map.value !== undefined) {
      this.#diagnostics.add(
        'E1004',
        placeOf(map),
        `"${name}" is ${kindOf(map.value)}: it must be an object`,
        `Write the members of "${name}" by name, each on a line of its own below it.`,
      );
    }
    return [];
  }

  #text(at: Located): string | undefined {
    const name = pointerTokens(at.pointer)?.at(-1) ?? '';
    if (typeof at.value === 'string') return at.value;
    if (at.value !== undefined)
      this.#diagnostics.add(
        'E1004',
        placeOf(at),
        `"${name}" is ${kindOf(at.value)}: it must be a string`,
        'Write a media type, such as application/json.',
      );
    return undefined;
  }

  /** AsyncAPI ignores them; people write a dispatcher there, and mean it. */
  #warnOfMembersBeside({ chain: [declared] }: MergedObject): void {
    const names = isObject(declared.value) && typeof declared.value['$ref'] === 'string' ? declared.value : {};
    for (const name of Object.keys(names).filter((each) => each !== '$ref')) {
      const place = placeOf(member(declared, name));
      this.#diagnostics.add('E1007', place, `"${name}" stands beside a $ref: it replaces that of its target`);
    }
  }

  #part(declared: Located, what: string): Located {
    return followedPart(declared, what, this.#documents, this.#diagnostics);
  }

  #object(declared: Located, what: string): Located | null {
    return followObject(declared, what, this.#documents, this.#diagnostics);
  }
}
