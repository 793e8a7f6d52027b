/** `host_observation_*`: counts, logs and traces of requests beyond those of the gateway for all. */

import { capability, onlyIn, openedInInit } from '../../../kit.ts';
import { OBSERVATION_METRICS, openFigures } from './figures.ts';
import { Observation } from './observation.ts';
import type { SeenConsumers } from './observed-field.ts';
import { observe } from './observed-request.ts';
import { SlowLog } from './slow-log.ts';

/** Objects that `init` has opened. */
interface Bound {
  observation: Observation | null;
}

export const observations = capability({
  metrics: OBSERVATION_METRICS,
  open: (process) => {
    const consumers: SeenConsumers = new Map();
    return { figures: openFigures(process), consumers };
  },
  bind: (): Bound => ({ observation: null }),
  functions: {
    host_observation_open: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'in `init`: opens the observation that the whole config describes, with the properties of `observability`; unusable settings reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_observation_open');
          const { config, name, services } = call.binding;
          const slowLog = new SlowLog((message, { exchange }) => services.log('warn', name, message, exchange));
          bound().observation ??= new Observation(config.whole, { ...loaded, slowLog });
          return 0;
        },
    },
    host_observation_add: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'this request is observed: counted, logged and traced as the observation says when it has ended, whatever answers it',
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          const observation = openedInInit(bound().observation, 'host_observation_add', 'host_observation_open');
          observe(call.request(), observation);
          return 0;
        },
    },
  },
});
