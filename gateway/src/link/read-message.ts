/** Reads messages of the link: bytes from the wire are untrusted until their schema accepts them. */
import type { Static, TObject } from 'typebox';
import { Compile } from 'typebox/compile';
import { get, isObject, type Obj } from '../spec/json.ts';
import { MAX_MESSAGE_BYTES, TO_CONTROL, TO_DATA_PLANE, type ToControl, type ToDataPlane } from './messages.ts';

/** The message names the invalid member, and quotes nothing of the received one. */
export class MalformedMessage extends Error {}

type Reader<M> = (text: string) => M | null;

/** Returns null for a type that is not known: a newer peer may say more. Throws MalformedMessage. */
function reader<M>(checks: ReadonlyMap<string, (value: Obj) => M>): Reader<M> {
  return (text) => {
    if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
      throw new MalformedMessage(`a message may have ${MAX_MESSAGE_BYTES} bytes`);
    }
    const value = parse(text);
    const type = get(value, 'type');
    if (!isObject(value) || typeof type !== 'string') {
      throw new MalformedMessage('a message is a JSON object with a "type"');
    }
    return checks.get(type)?.(value) ?? null;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedMessage('a message is not JSON');
  }
}

/** Members that are not known are left out: they would be kept for as long as the message is. */
function check<T extends TObject>(type: string, schema: T): (value: Obj) => Static<T> {
  const validator = Compile(schema);
  const members = Object.keys(schema.properties);
  return (value) => {
    const known: unknown = Object.fromEntries(
      members.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]),
    );
    if (validator.Check(known)) return known;
    const [first] = validator.Errors(known);
    throw new MalformedMessage(`"${type}"${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}`);
  };
}

/** Reads messages of a data plane. */
export const readToControl: Reader<ToControl> = reader(
  new Map<string, (value: Obj) => ToControl>([
    ['hello', check('hello', TO_CONTROL.hello)],
    ['status', check('status', TO_CONTROL.status)],
    ['heartbeat', check('heartbeat', TO_CONTROL.heartbeat)],
  ]),
);

/** Reads messages of a control plane. */
export const readToDataPlane: Reader<ToDataPlane> = reader(
  new Map<string, (value: Obj) => ToDataPlane>([
    ['welcome', check('welcome', TO_DATA_PLANE.welcome)],
    ['refused', check('refused', TO_DATA_PLANE.refused)],
    ['artifact', check('artifact', TO_DATA_PLANE.artifact)],
    ['heartbeat', check('heartbeat', TO_DATA_PLANE.heartbeat)],
    ['drift', check('drift', TO_DATA_PLANE.drift)],
    ['goodbye', check('goodbye', TO_DATA_PLANE.goodbye)],
  ]),
);
