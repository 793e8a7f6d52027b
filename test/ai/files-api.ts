/** Files and batches of a provider, as OpenAI's public documentation has them: kept in memory, a batch ends when it is asked for twice. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './fake-provider.ts';

export interface FilesRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** `type`: of its content; an object is JSON. */
export interface FilesAnswer {
  readonly type: string;
  readonly body: string | Buffer;
}

type Member = Readonly<Record<string, unknown>>;

interface KeptFile {
  readonly object: Member;
  readonly content: Buffer;
}

const NOW = () => Math.floor(Date.now() / 1000);
const newId = (prefix: string) => prefix + randomBytes(12).toString('hex');
const json = (value: object): FilesAnswer => ({ type: 'application/json', body: JSON.stringify(value) });

const BATCH_USAGE = {
  input_tokens: 210,
  input_tokens_details: { cached_tokens: 160 },
  output_tokens: 80,
  output_tokens_details: { reasoning_tokens: 50 },
  total_tokens: 290,
};

export class FilesApi {
  readonly #files = new Map<string, KeptFile>();
  readonly #batches = new Map<string, Member>();

  /** Ids of all files that there are. */
  get files(): readonly string[] {
    return [...this.#files.keys()];
  }

  get batches(): readonly string[] {
    return [...this.#batches.keys()];
  }

  /** Null where it is for another part of the provider; throws Refusal. */
  async answer(request: FilesRequest): Promise<FilesAnswer | null> {
    const { method } = request;
    const [path = ''] = request.url.split('?');
    const [, surface, id, end] = /^\/v1\/(files|batches)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(path) ?? [];
    if (surface === undefined) return null;
    switch (`${method} ${surface}${id === undefined ? '' : '/'}${end ?? ''}`) {
      case 'POST files':
        return json(await this.#upload(request));
      case 'GET files':
        return json({ object: 'list', data: [...this.#files.values()].map(({ object }) => object), has_more: false });
      case 'GET files/':
        return json(this.#file(id).object);
      case 'GET files/content':
        return { type: 'application/octet-stream', body: this.#file(id).content };
      case 'DELETE files/':
        this.#file(id);
        this.#files.delete(id ?? '');
        return json({ id, object: 'file', deleted: true });
      case 'POST batches':
        return json(this.#create(JSON.parse(request.bytes.toString())));
      case 'GET batches':
        return json({ object: 'list', data: [...this.#batches.values()], has_more: false });
      case 'GET batches/':
        return json(this.#advanced(id));
      case 'POST batches/cancel':
        return json(this.#keep({ ...this.#batch(id), status: 'cancelling', cancelling_at: NOW() }));
      default:
        throw new Refusal(404, 'unknown_url', `${method} ${path}`);
    }
  }

  async #upload({ headers, bytes }: FilesRequest): Promise<Member> {
    const type = headers['content-type'] ?? '';
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    const [file, purpose] = [form.get('file'), form.get('purpose')];
    if (!(file instanceof File)) throw new Refusal(400, 'missing_required_parameter', "Missing 'file'.");
    if (purpose !== 'batch') throw new Refusal(400, 'invalid_value', `'${String(purpose)}' is not a purpose.`);
    return this.#add(file.name, Buffer.from(await file.arrayBuffer()), purpose);
  }

  #add(filename: string, content: Buffer, purpose: string): Member {
    const id = newId('file-');
    const times = { created_at: NOW(), expires_at: null };
    const object = { id, object: 'file', bytes: content.length, filename, purpose, status: 'processed', ...times };
    this.#files.set(id, { object, content });
    return object;
  }

  #file(id = ''): KeptFile {
    const file = this.#files.get(id);
    if (file === undefined) throw new Refusal(404, 'not_found', `No such File object: ${id}`);
    return file;
  }

  #batch(id = ''): Member {
    const batch = this.#batches.get(id);
    if (batch === undefined) throw new Refusal(404, 'not_found', `No batch found with id '${id}'.`);
    return batch;
  }

  #keep(batch: Member): Member {
    this.#batches.set(String(batch['id']), batch);
    return batch;
  }

  #create({ input_file_id: input, endpoint, completion_window, metadata = null }: Member): Member {
    if (completion_window !== '24h') throw new Refusal(400, 'invalid_value', "'completion_window' must be '24h'.");
    this.#file(String(input));
    const none = { errors: null, output_file_id: null, error_file_id: null };
    const counts = { request_counts: { total: 0, completed: 0, failed: 0 }, created_at: NOW() };
    const asked = { input_file_id: input, endpoint, completion_window, metadata };
    return this.#keep({ id: newId('batch_'), object: 'batch', status: 'validating', ...asked, ...none, ...counts });
  }

  /** From one of its states to the next, each time that it is asked for. */
  #advanced(id = ''): Member {
    const batch = this.#batch(id);
    if (batch['status'] === 'validating') return this.#keep({ ...batch, status: 'in_progress', in_progress_at: NOW() });
    if (batch['status'] === 'in_progress') return this.#keep(this.#completed(batch));
    if (batch['status'] === 'cancelling') return this.#keep({ ...batch, status: 'cancelled', cancelled_at: NOW() });
    return batch;
  }

  #completed(batch: Member): Member {
    const lines = this.#file(String(batch['input_file_id'])).content.toString().trim().split('\n');
    const answers = lines.map((line) => `${JSON.stringify(answerTo(JSON.parse(line)))}\n`);
    const output = this.#add('output.jsonl', Buffer.from(answers.join('')), 'batch_output');
    const model: unknown = JSON.parse(lines[0] ?? '{}').body?.model ?? null;
    const counts = { total: lines.length, completed: lines.length, failed: 0 };
    const told = { request_counts: counts, usage: BATCH_USAGE, model, output_file_id: output['id'] };
    return { ...batch, status: 'completed', completed_at: NOW(), ...told };
  }
}

function answerTo({ custom_id }: Member): object {
  const body = { choices: [{ message: { role: 'assistant', content: `of ${String(custom_id)}` } }] };
  return {
    id: newId('batch_req_'),
    custom_id,
    response: { status_code: 200, request_id: newId('req_'), body },
    error: null,
  };
}
