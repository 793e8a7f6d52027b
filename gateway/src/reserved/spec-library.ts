/** The specs of one artifact as they are served: rendered when first asked for, off the event loop, and kept. */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { SpecType } from '../artifact/format.ts';
import type { Artifact } from '../artifact/index.ts';
import type { RenderJob, RenderReply, SpecFormat } from './render-worker.ts';

export interface RenderedSpec {
  readonly body: Uint8Array;
  /** Strong validator, quoted. */
  readonly etag: string;
}

/** In the source tree this file is TypeScript, in a bundle JavaScript; the worker lies beside it in both cases. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './render-worker.ts' : './render-worker.js', import.meta.url);
const TIMEOUT_MS = 60_000;
const HEAP_MB = 1024;
/** Share of the process's memory: when memory runs out, the thread must end, and not the process. */
const HEAP_SHARE = 1 / 2;

export class SpecLibrary {
  readonly #artifact: Artifact;
  readonly #rendered = new Map<string, Promise<RenderedSpec>>();
  /** Renderings run one at a time, since each may need much memory. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(artifact: Artifact) {
    this.#artifact = artifact;
  }

  /** Base names of the specs of one type, in their order. */
  names(type: SpecType): readonly string[] {
    return this.#artifact.manifest.source_specs.filter((each) => each.type === type).map(({ file }) => file);
  }

  /** Renders one file, a spec or a file that specs refer to; returns undefined if it does not exist. */
  file(name: string, format: SpecFormat): Promise<RenderedSpec> | undefined {
    return this.#artifact.specNames.includes(name) ? this.#render(`file:${name}`, [name], format) : undefined;
  }

  /** Renders all specs of one type merged; returns undefined without specs. */
  merged(type: SpecType, format: SpecFormat): Promise<RenderedSpec> | undefined {
    const names = this.names(type);
    return names.length === 0 ? undefined : this.#render(type, names, format);
  }

  #render(what: string, names: readonly string[], format: SpecFormat): Promise<RenderedSpec> {
    const key = `${format}\0${what}`;
    let rendered = this.#rendered.get(key);
    if (!rendered) {
      rendered = this.#last.then(() => this.#work(names, format));
      this.#last = rendered.catch(() => this.#rendered.delete(key));
      this.#rendered.set(key, rendered);
    }
    return rendered;
  }

  async #work(names: readonly string[], format: SpecFormat): Promise<RenderedSpec> {
    const files: RenderJob['files'][number][] = [];
    for (const name of names) files.push({ name, bytes: await this.#artifact.readSpec(name) });
    const reply = await ask({ files, format });
    if ('failure' in reply) throw new Error(`a spec cannot be served: ${reply.failure}`);
    const body = Buffer.from(reply.text);
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
  }
}

async function ask(job: RenderJob): Promise<RenderReply> {
  const worker = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: heapMb() } });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<RenderReply>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error('rendering a spec took too long')), TIMEOUT_MS);
      worker.once('message', resolve).once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the rendering thread ended with ${code}`)));
      worker.postMessage(job);
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** Returns MiB of the worker's heap: at most half of the limit of the process's container, if it has one. */
function heapMb(): number {
  // Without a limit it is 0, or more than any machine has.
  const bytes = process.constrainedMemory();
  return bytes > 0 ? Math.min(HEAP_MB, Math.floor((bytes * HEAP_SHARE) / (1 << 20))) : HEAP_MB;
}
