/** Metrics of event streams. */
import { type CounterInfo, LABELS, type SampledInfo } from '../../../kit.ts';

export const STREAMS: CounterInfo = {
  help: 'Streams of events that have ended',
  labels: {
    end: '`client`: it left; `lag`: it read too slowly, for `max_lag` or for the memory that others needed; `duration`: it had to open the stream again; `share`: its client had most streams while another opened one; `stopping`: the gateway stopped',
  },
};

export const OPEN_STREAMS: SampledInfo = {
  type: 'gauge',
  help: 'Streams of events that are open, or being opened',
  labels: {},
};

export const DROPPED_MESSAGES: CounterInfo = {
  help: 'Messages that no client got, since they are not as the API description has them (`validate: drop`)',
  labels: { plugin: LABELS.plugin },
};
