/** The values that an expression can read: the parts of `request`, and their types. */
import { CelScalar, type CelType, listType, mapType, objectType } from '@bufbuild/cel';

const { STRING, DYN } = CelScalar;
export const TIMESTAMP = objectType('google.protobuf.Timestamp');

export const REQUEST = 'request';

export type RequestPart =
  | 'method'
  | 'path'
  | 'path_params'
  | 'query'
  | 'headers'
  | 'body_json'
  | 'client_ip'
  | 'consumer'
  | 'groups'
  | 'claims'
  | 'time';

/** docs and messages list them in this order. */
export const REQUEST_PARTS: Readonly<Record<RequestPart, CelType>> = {
  method: STRING,
  path: STRING,
  path_params: mapType(STRING, STRING),
  query: mapType(STRING, listType(STRING)),
  headers: mapType(STRING, STRING),
  body_json: DYN,
  client_ip: STRING,
  consumer: STRING,
  groups: listType(STRING),
  claims: mapType(STRING, DYN),
  time: TIMESTAMP,
};

export function isRequestPart(name: string): name is RequestPart {
  return Object.hasOwn(REQUEST_PARTS, name);
}
