/** What happens in a project, as it happens. */
import type { FastifyInstance } from 'fastify';
import type { ControlPlane } from '../control-plane.ts';
import { EVENT_STREAM_TYPE, type EventStream } from '../http/event-stream.ts';
import { operation } from '../http/operation.ts';
import { ProjectParams } from '../resources/projects/routes.ts';
import type { ProjectEvent } from './project-events.ts';

export function eventRoutes(app: FastifyInstance, { projects }: ControlPlane): void {
  operation(app, {
    id: 'projects.events',
    tag: 'Projects',
    summary: 'Follow a project',
    description:
      'Server-sent events `compilation`, `deployment` and `data_plane`, each with the resource as it is after a change, at most five a second of one resource. What was before is not told. The stream ends where changes may have been missed: read the lists, and ask again.',
    method: 'GET',
    url: '/projects/:id/events',
    params: ProjectParams,
    answers: { 200: { description: 'The events', types: [EVENT_STREAM_TYPE] } },
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) => {
      await projects.get(actor, params.id);
      const stream = app.eventStreams.open(request, reply);
      void sendAll(stream, projects.events(actor, params.id, stream.signal));
      return reply.send(stream.body);
    },
  });
}

async function sendAll(stream: EventStream, events: AsyncIterable<ProjectEvent>): Promise<void> {
  try {
    for await (const { event, data } of events) stream.send(event, data);
    stream.end();
  } catch (error) {
    stream.body.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}
