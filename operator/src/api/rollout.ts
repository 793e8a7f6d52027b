/**
 * How a new artifact takes the place of the one before (docs/decisions.md#later-artifacts-over-link,
 * docs/decisions.md#programmed-by-provenance, docs/decisions.md#newest-deployment-wins).
 */
import type { FromSchema, Schema } from './schema.ts';

const surge = { 'x-kubernetes-int-or-string': true } as const satisfies Schema;

export const rolloutSchema = {
  type: 'object',
  default: {},
  description: 'How a new artifact replaces the previous one.',
  properties: {
    strategy: {
      type: 'string',
      enum: ['Rolling', 'Canary', 'InPlace'],
      default: 'Rolling',
      description:
        'Rolling: new pods replace old ones. Canary: a growing share of the pods serves it, and metrics decide. InPlace: running pods load it without a restart.',
    },
    progressDeadlineSeconds: {
      type: 'integer',
      minimum: 10,
      maximum: 3600,
      default: 120,
      description: 'Seconds without progress after which a rollout fails.',
    },
    automaticRollback: {
      type: 'boolean',
      default: true,
      description: 'Returns to the last good artifact when a rollout fails.',
    },
    rolling: {
      type: 'object',
      description: 'How pods are replaced, for Rolling and whenever the pod template changes.',
      properties: {
        maxSurge: {
          ...surge,
          description: 'Maximum number of pods above the desired number. Default: 25 %, at least two.',
        },
        maxUnavailable: { ...surge, description: 'Maximum number of pods below the desired number. Default: 0.' },
      },
    },
    canary: {
      type: 'object',
      default: {},
      properties: {
        steps: {
          type: 'array',
          minItems: 1,
          maxItems: 20,
          'x-kubernetes-list-type': 'atomic',
          'x-kubernetes-validations': [
            { rule: 'self.map(step, step.weight).isSorted()', message: 'weights of steps must not decrease' },
          ],
          description:
            'Shares of the pods that serve the new artifact, one after another; after the last, all do. Default: 10, 25 and 50 percent for 60 seconds each.',
          items: {
            type: 'object',
            required: ['weight'],
            properties: {
              weight: {
                type: 'integer',
                minimum: 1,
                maximum: 99,
                description:
                  'Percentage of the pods. Canary pods are added to the others, which remain: at least one, and at most as many as the others.',
              },
              pauseSeconds: {
                type: 'integer',
                minimum: 0,
                maximum: 86400,
                default: 60,
                description: 'Seconds that the canary is observed before the next step.',
              },
            },
          },
        },
        watchSeconds: {
          type: 'integer',
          minimum: 0,
          maximum: 86400,
          default: 60,
          description:
            'Seconds after the promotion during which a few pods keep the previous artifact for comparison; if the new one does worse, the project is rolled back.',
        },
        analysis: {
          type: 'object',
          default: {},
          description:
            "Limits for the canary's metrics, per operation, compared with those of the other pods over the same time. Exceeding one aborts the rollout.",
          properties: {
            minRequests: {
              type: 'integer',
              minimum: 1,
              maximum: 1000000,
              default: 20,
              description:
                'Number of requests to an operation of the canary that are sufficient evidence; operations with fewer are listed in the status.',
            },
            requireEvidence: {
              type: 'boolean',
              default: false,
              description:
                'Whether a step waits until the canary has served minRequests to every operation that is in use. Default: the step passes, and the status lists operations with fewer.',
            },
            maxErrorPercent: {
              type: 'number',
              minimum: 0,
              maximum: 100,
              default: 1,
              description:
                "Percentage points by which an operation's share of 5xx responses may exceed that of the other pods. The canary is aborted if it has more, at least five, and chance does not explain the difference.",
            },
            maxP99Ms: {
              type: 'integer',
              minimum: 1,
              description:
                "Maximum 99th percentile of an operation's duration in milliseconds, unless the other pods take as long. Default: not checked.",
            },
          },
        },
      },
    },
  },
} as const satisfies Schema;

export const rolloutStatus = {
  type: 'object',
  description: 'The rollout in progress, or the last one.',
  properties: {
    strategy: { type: 'string', enum: ['Rolling', 'Canary', 'InPlace'] },
    phase: { type: 'string', enum: ['Progressing', 'Succeeded', 'Failed', 'Aborted'] },
    revision: { type: 'integer', minimum: 1, description: 'Revision that is rolled out.' },
    artifactHash: { type: 'string' },
    from: { type: 'integer', minimum: 1, description: 'Previous revision, to which a failed rollout returns.' },
    step: { type: 'integer', minimum: 0, description: "Index of the canary's step." },
    weight: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'Percentage of the pods that the step requires.',
    },
    share: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'Percentage of the ready pods that are canaries.',
    },
    unserved: {
      type: 'boolean',
      description:
        'It succeeded without a gateway pod, because none was requested: the first pods show whether it works, and a failure returns to `from`.',
    },
    watching: {
      type: 'boolean',
      description: 'All pods have it, except for a few that keep the previous revision for comparison.',
    },
    paused: { type: 'boolean', description: 'Whether it is paused at its step (`kubectl gw pause`).' },
    asked: {
      type: 'string',
      maxLength: 64,
      description: 'The last action requested by the annotation gw.dev/rollout.',
    },
    withoutEvidence: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'Operations in use to which the canary has served too few requests in this step to be judged.',
    },
    needsEvidence: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description:
        'Operations that a canary measured as bad, and that have had too few requests since to show otherwise: the rollout waits for requests to them, or for `kubectl gw retry` or `promote`.',
    },
    blamelessAt: {
      type: 'integer',
      minimum: 0,
      description:
        'metadata.generation whose pods did not start before this revision either: until it changes, pods that do not start do not count as a failure of the revision.',
    },
    startedAt: { type: 'string', format: 'date-time' },
    steppedAt: { type: 'string', format: 'date-time', description: 'When all pods of the step were ready.' },
    progressedAt: { type: 'string', format: 'date-time', description: 'Time of the last progress, for the deadline.' },
    endedAt: { type: 'string', format: 'date-time' },
    message: { type: 'string', maxLength: 4096, description: 'Current state, or why it ended.' },
  },
} as const satisfies Schema;

/** A revision that failed to roll out, and the request for it. */
export const failedStatus = {
  type: 'object',
  description:
    'Revision that failed to roll out. It is not tried again until another revision compiles, the spec or a Secret of the pods changes, or a Deployment requests it.',
  required: ['revision', 'artifactHash', 'message'],
  properties: {
    revision: { type: 'integer', minimum: 1 },
    artifactHash: { type: 'string' },
    message: { type: 'string', maxLength: 4096 },
    at: { type: 'string', format: 'date-time' },
    generation: { type: 'integer', minimum: 0, description: 'metadata.generation at which it failed.' },
    deployment: { type: 'string', description: 'UID/GENERATION of the Deployment that requested it.' },
    secrets: { type: 'string', description: 'Fingerprint of the Secrets of the pods at that time.' },
  },
} as const satisfies Schema;

/** Operations that canaries measured as bad (docs/decisions.md#measured-faults). */
export const measuredFaults = {
  type: 'array',
  maxItems: 100,
  'x-kubernetes-list-type': 'atomic',
  description:
    'Operations that a canary measured as bad, newest first. A revision that has one of them unchanged is rolled out to all pods only after requests to it went well, or after `kubectl gw retry` or `promote`.',
  items: {
    type: 'object',
    required: ['operation', 'message', 'revision'],
    properties: {
      operation: { type: 'string', maxLength: 4096 },
      fingerprint: {
        type: 'string',
        description: 'Digest of its schemas, dispatch, middlewares and their plugins; edits elsewhere keep it.',
      },
      message: { type: 'string', maxLength: 1024 },
      revision: { type: 'integer', minimum: 1 },
      at: { type: 'string', format: 'date-time' },
    },
  },
} as const satisfies Schema;

export type MeasuredFault = FromSchema<typeof measuredFaults>[number];
export type RolloutSpec = FromSchema<typeof rolloutSchema>;
export type RolloutStatus = FromSchema<typeof rolloutStatus>;
export type FailedRevision = FromSchema<typeof failedStatus>;
