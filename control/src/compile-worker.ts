/** The thread in which projects are compiled: one message in, one out, no state between them. */
import { isMainThread, parentPort } from 'node:worker_threads';
import { type CompileResult, compile, type Project } from '@gw/gateway/compiler';

/** What the thread says back. */
export type WorkerReply = { readonly id: number } & ({ readonly result: CompileResult } | { readonly failure: string });

async function answer(id: number, project: Project): Promise<{ reply: WorkerReply; transfer: ArrayBuffer[] }> {
  try {
    const result = await compile(project);
    if (!result.ok) return { reply: { id, result }, transfer: [] };
    // Its own memory, so that it can be handed over instead of copied.
    const artifact = new Uint8Array(result.artifact);
    return { reply: { id, result: { ...result, artifact } }, transfer: [artifact.buffer] };
  } catch (error) {
    return {
      reply: { id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      transfer: [],
    };
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  port.on('message', ({ id, project }: { readonly id: number; readonly project: Project }) => {
    void answer(id, project).then(({ reply, transfer }) => port.postMessage(reply, transfer));
  });
}
