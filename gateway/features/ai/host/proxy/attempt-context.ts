/** Inputs of the attempts at providers: from the request, the config and the process. */

import type { EngineResponse, Exchange, HttpCaller, LogLevel, ReservationStore } from '../../../kit.ts';
import type { FilesCall, ProviderRequest } from './files/provider-request.ts';
import type { AiMetrics } from './metrics.ts';
import type { Surface, SurfaceRequest, Translation } from './surfaces/surface.ts';
import type { OwnedIds } from './targets/bound-ids.ts';
import type { Endpoint } from './targets/endpoint.ts';
import type { AiSettings } from './targets/settings.ts';
import type { TargetTries } from './targets/target-tries.ts';
import type { Target } from './targets/targets.ts';

export interface AiServices {
  readonly http: HttpCaller;
  readonly metrics: AiMetrics;
  /** Store of things that are counted once, for all pods. */
  readonly reservations: ReservationStore;
  log(level: LogLevel, message: string, exchange: Exchange): void;
}

interface ClientContext {
  readonly exchange: Exchange;
  readonly response: EngineResponse;
  readonly services: AiServices;
}

/** A request that names a model. */
export interface ModelContext extends ClientContext {
  readonly settings: AiSettings;
  /** As it goes to the target: with the model's own name. */
  readonly request: SurfaceRequest;
  /** The model as the client names it. */
  readonly model: string;
  /** Reason for choosing the target, for the trace. */
  readonly why: string;
}

/** A request to a model that has one answer, whole or as a stream. */
export interface TranslatedContext extends ModelContext {
  readonly kind: 'translated';
  readonly surface: Surface;
  readonly translation: Translation;
}

/** A realtime session, whose messages pass as they come. */
export interface RealtimeContext extends ModelContext {
  readonly kind: 'realtime';
}

/** A request about files or batches. */
export interface FilesContext extends ClientContext {
  readonly kind: 'files';
  readonly call: FilesCall;
  readonly ids: OwnedIds;
  readonly request: ProviderRequest;
}

/** A request to a model, for one target. */
export type TargetContext = TranslatedContext | RealtimeContext;
export type AttemptContext = TargetContext | FilesContext;

/** The endpoint of an attempt. */
export interface EndpointTarget {
  readonly target: Target;
  readonly endpoint: Endpoint;
  /** Milliseconds for the whole answer; of a stream or a WebSocket, until its head is there. */
  readonly headMs: number;
  /** Null for files: one endpoint has them, and its health is for requests to models. */
  readonly tries: TargetTries | null;
}
