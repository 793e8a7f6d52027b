/** The thread in which projects are compiled: one message in, one out, no state between them. */
import { type CompileResult, compile, type Project } from '@gw/gateway/compiler';
import { answerTasks } from './worker-thread.ts';

answerTasks<Project, CompileResult>(async (project) => {
  const result = await compile(project);
  if (!result.ok) return { result };
  // Its own memory, so that it can be handed over instead of copied.
  const artifact = new Uint8Array(result.artifact);
  return { result: { ...result, artifact }, transfer: [artifact.buffer] };
});
