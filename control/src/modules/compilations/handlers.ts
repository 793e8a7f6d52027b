/** Compilations over HTTP (docs/reference/control-plane.md#compilations). */
import { sendEvents } from '../../http/event-stream.ts';
import { resource } from '../../http/resource.ts';
import { compilationOperations } from './operations.ts';
import type { Compilations } from './service.ts';

export const compilationResource = resource(
  compilationOperations,
  ({ compilations }: { readonly compilations: Compilations }) => ({
    'compilations.compileSpec': async ({ actor, params, body, reply }) => {
      const compilation = await compilations.compileSpec(actor, params.id, body);
      reply.header('location', `/compilations/${compilation.id}`);
      return compilation;
    },
    'compilations.compileProject': async ({ actor, params, body, reply }) => {
      const compilation = await compilations.compileProject(actor, params.id, body);
      reply.header('location', `/compilations/${compilation.id}`);
      return compilation;
    },
    'compilations.listOfSpec': ({ actor, params, query }) => compilations.listOfSpec(actor, params.id, query),
    'compilations.listOfProject': ({ actor, params, query }) => compilations.listOfProject(actor, params.id, query),
    'compilations.get': ({ actor, params }) => compilations.get(actor, params.id),
    'compilations.events': async ({ actor, params, request, reply }) => {
      // Checked first: an unknown id gets 404, not a stream.
      await compilations.get(actor, params.id);
      const stream = request.server.eventStreams.open(request, reply);
      void sendEvents(stream, 'compilation', compilations.events(actor, params.id, stream.signal));
      return reply.send(stream.body);
    },
    'compilations.delete': ({ actor, params }) => compilations.delete(actor, params.id),
  }),
);
