/** Inputs of an attempt at a provider, from the request and from the process. */

import type { EngineResponse, Exchange, HttpCaller, LogLevel, ReservationStore } from '../../../kit.ts';
import type { AiMetrics } from './metrics.ts';
import type { Surface, SurfaceRequest } from './surfaces/surface.ts';

export interface AiServices {
  readonly http: HttpCaller;
  readonly metrics: AiMetrics;
  /** Store of things that are counted once, for all pods. */
  readonly reservations: ReservationStore;
  log(level: LogLevel, message: string, exchange: Exchange): void;
}

/** A request, on its way to a provider. */
export interface Asked {
  readonly exchange: Exchange;
  readonly response: EngineResponse;
  readonly surface: Pick<Surface, 'error'>;
  /** As it goes to the target: with the model's own name. */
  readonly request: SurfaceRequest;
  /** The model as the client names it. */
  readonly model: string;
  /** Reason for choosing the target, for the trace. */
  readonly why: string;
}
