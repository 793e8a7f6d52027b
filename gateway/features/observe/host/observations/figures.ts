/** Metrics of requests that a config observes. */
import { type CounterInfo, DURATION_BUCKETS, type HistogramInfo, LABELS, type ProcessServices } from '../../../kit.ts';

/** Whether a request kept its objective: `failed` is status 500 and above, however fast. */
export type Outcome = 'met' | 'slow' | 'failed';

const { method, path, api } = LABELS;
const field = 'name of a field in the config';
const value =
  'one of the values that the config lists, or of the first consumers; `other` for all else, `none` without one';

const OBJECTIVE: CounterInfo = {
  help: 'Requests with an objective for their duration, by whether they kept it',
  labels: {
    method,
    path,
    api,
    objective: '`met`, `slow` (it took longer than `slow_after`) or `failed` (status 500 and above)',
  },
};
const OBSERVED: CounterInfo = {
  help: 'Requests by a field that a config observes',
  labels: { api, field, value, status_class: '`1xx` to `5xx`' },
};
const OBSERVED_DURATION: HistogramInfo = {
  help: 'Time from head to end, by a field that a config observes',
  labels: { api, field, value },
  buckets: DURATION_BUCKETS,
};

export const OBSERVATION_METRICS = {
  gw_objective_requests_total: OBJECTIVE,
  gw_observed_requests_total: OBSERVED,
  gw_observed_request_duration_seconds: OBSERVED_DURATION,
};

export type Figures = ReturnType<typeof openFigures>;

export function openFigures({ counter, histogram }: ProcessServices) {
  return {
    objective: counter('gw_objective_requests_total', OBJECTIVE),
    observed: counter('gw_observed_requests_total', OBSERVED),
    duration: histogram('gw_observed_request_duration_seconds', OBSERVED_DURATION),
  };
}
