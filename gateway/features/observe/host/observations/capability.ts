/** `host_observation_*`: counts, logs and traces of requests beyond those of the gateway for all. */

import { capability, InitSlot, OPENER } from '../../../kit.ts';
import { OBSERVATION_METRICS, openFigures } from './figures.ts';
import { Observation } from './observation.ts';
import type { SeenConsumers } from './observed-field.ts';
import { observe } from './observed-request.ts';
import { SlowLog } from './slow-log.ts';

export const observations = capability({
  metrics: OBSERVATION_METRICS,
  open: (process) => {
    const consumers: SeenConsumers = new Map();
    return { figures: openFigures(process), consumers };
  },
  bind: () => new InitSlot<Observation>('host_observation_open'),
  functions: {
    host_observation_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the observation that the whole config describes, with the properties of `observability`; unusable settings reject the config',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().open(call, ({ config, name, services }) => {
            const slowLog = new SlowLog((message, { exchange }) => services.log('warn', name, message, exchange));
            return new Observation(config.whole, { ...loaded, slowLog });
          }),
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
          const observation = bound().get('host_observation_add');
          observe(call.request(), observation);
          return 0;
        },
    },
  },
});
