/** Projects over HTTP (docs/reference/control-plane.md#projects). */
import { etagOf, ifMatch, notModified } from '../../http/etag.ts';
import type { EventStream } from '../../http/event-stream.ts';
import { resource } from '../../http/resource.ts';
import { projectOperations } from './operations.ts';
import type { ProjectEvent } from './project-events.ts';
import type { Projects } from './service.ts';

export const projectResource = resource(projectOperations, ({ projects }: { readonly projects: Projects }) => ({
  'projects.list': ({ actor, query }) => projects.list(actor, query),
  'projects.create': async ({ actor, body, reply }) => {
    const { project, version } = await projects.create(actor, body);
    reply.header('location', `/projects/${project.id}`).header('etag', etagOf(version));
    return project;
  },
  'projects.init': async ({ actor, body, reply }) => {
    const made = await projects.init(actor, body);
    reply.header('location', `/projects/${made.project.id}`);
    return made;
  },
  'projects.get': async ({ actor, params, request, reply }) => {
    const { project, version } = await projects.get(actor, params.id);
    return notModified(request, reply, version) ? reply.code(304).send() : project;
  },
  'projects.update': async ({ actor, params, body, request, reply }) => {
    const { project, version } = await projects.update(actor, params.id, body, ifMatch(request));
    reply.header('etag', etagOf(version));
    return project;
  },
  'projects.delete': ({ actor, params, request }) => projects.delete(actor, params.id, ifMatch(request)),
  'projects.events': async ({ actor, params, request, reply }) => {
    await projects.get(actor, params.id);
    const stream = request.server.eventStreams.open(request, reply);
    void sendAll(stream, projects.events(actor, params.id, stream.signal));
    return reply.send(stream.body);
  },
}));

async function sendAll(stream: EventStream, events: AsyncIterable<ProjectEvent>): Promise<void> {
  try {
    for await (const { event, data } of events) stream.send(event, data);
    stream.end();
  } catch (error) {
    stream.body.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}
