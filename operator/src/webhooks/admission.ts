/** Admission webhooks (admission.k8s.io/v1): reads an API server's request, and answers it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole } from '@gw/gateway/read-whole';
import { isRecord } from '../kube/kube-object.ts';
import type { RequestHandler } from '../runtime/https-server.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** Empty for objects of the cluster. */
  readonly namespace: string;
  /** Empty if the server generates the name. */
  readonly name: string;
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly dryRun: boolean;
}

export interface AdmissionAnswer {
  readonly allowed: boolean;
  /** Why the object is refused. */
  readonly message?: string;
  /** 422 if the object is invalid; default 403. */
  readonly code?: 403 | 422;
  readonly warnings?: readonly string[];
  /** RFC 6902. */
  readonly patch?: readonly object[];
}

export type Review = (request: AdmissionRequest) => Promise<AdmissionAnswer>;

/** Objects are at most 1.5 MiB in etcd, and there are two of them in a request. */
const MAX_BODY = 8 * 1024 * 1024;
/** The server passes on at most 4 KiB of warnings altogether, and cuts them at will. */
const MAX_WARNINGS = 8;
const MAX_WARNING = 480;
/** A refusal is one line in a terminal and in the events of a controller. */
const MAX_MESSAGE = 8 * 1024;

class BadRequest extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** `onError`: the review threw; the server gets 500, and applies the failurePolicy of its configuration. */
export function admissionHandler(review: Review, onError: (error: unknown) => void): RequestHandler {
  return async (request, response) => {
    let asked: AdmissionRequest;
    try {
      asked = parse(await readBody(request));
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      return answer(response, error.status, { error: error.message });
    }
    let given: AdmissionAnswer;
    try {
      given = await review(asked);
    } catch (error) {
      onError(error);
      return answer(response, 500, { error: 'the review failed; see the log of the operator' });
    }
    answer(response, 200, {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: rendered(asked.uid, given),
    });
  };
}

function rendered(uid: string, { allowed, message, code = 403, warnings = [], patch }: AdmissionAnswer): object {
  return {
    uid,
    allowed,
    ...(message === undefined
      ? {}
      : { status: { code, reason: code === 422 ? 'Invalid' : 'Forbidden', message: cut(message, MAX_MESSAGE) } }),
    ...(warnings.length > 0 ? { warnings: shown(warnings) } : {}),
    ...(patch && patch.length > 0
      ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
      : {}),
  };
}

function shown(warnings: readonly string[]): readonly string[] {
  const all = [...new Set(warnings)].map((text) => cut(text.replaceAll(/\s+/g, ' '), MAX_WARNING));
  return all.length <= MAX_WARNINGS
    ? all
    : [...all.slice(0, MAX_WARNINGS - 1), `and ${all.length - MAX_WARNINGS + 1} more`];
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (request.method !== 'POST') throw new BadRequest(405, 'a webhook accepts only POST');
  const tooLarge = () => new BadRequest(413, `the review is larger than ${MAX_BODY} bytes`);
  const body = await readWhole(request, MAX_BODY, tooLarge);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new BadRequest(400, 'the review is not JSON');
  }
}

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

function parse(body: unknown): AdmissionRequest {
  const request = isRecord(body) ? body['request'] : undefined;
  if (!isRecord(request) || typeof request['uid'] !== 'string')
    throw new BadRequest(400, 'it is not an AdmissionReview');
  const { uid, kind, object, oldObject, dryRun } = request;
  const operation = OPERATIONS.find((each) => each === request['operation']);
  if (!operation) throw new BadRequest(400, 'the review has no operation');
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    uid,
    kind: isRecord(kind) ? text(kind['kind']) : '',
    operation,
    namespace: text(request['namespace']),
    name: text(request['name']),
    object: object ?? undefined,
    oldObject: oldObject ?? undefined,
    dryRun: dryRun === true,
  };
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      // The unread rest of a body would be taken for the next request.
      ...(status === 200 ? {} : { connection: 'close' }),
    })
    .end(text);
}
