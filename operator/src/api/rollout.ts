/**
 * How a new artifact takes the place of the one before (docs/decisions.md#later-artifacts-over-link,
 * docs/decisions.md#programmed-by-provenance, docs/decisions.md#newest-deployment-wins).
 */
import type { FromSchema, Schema } from './schema.ts';

const surge = { 'x-kubernetes-int-or-string': true } as const satisfies Schema;

export const rolloutSchema = {
  type: 'object',
  default: {},
  description: 'How a new artifact takes the place of the one before.',
  properties: {
    strategy: {
      type: 'string',
      enum: ['Rolling', 'Canary', 'InPlace'],
      default: 'Rolling',
      description:
        'Rolling: new pods take the place of old ones. Canary: a growing share of pods has it, and measurements decide. InPlace: running pods load it without a restart.',
    },
    progressDeadlineSeconds: {
      type: 'integer',
      minimum: 10,
      maximum: 3600,
      default: 120,
      description: 'Seconds without progress after which a rollout has failed.',
    },
    automaticRollback: {
      type: 'boolean',
      default: true,
      description: 'Returns to the last good artifact when a rollout fails.',
    },
    rolling: {
      type: 'object',
      description: "The pods' replacement, for Rolling and whenever their template changes.",
      properties: {
        maxSurge: { ...surge, description: 'Pods above the number wanted. Default: 25 %, at least two.' },
        maxUnavailable: { ...surge, description: 'Pods below the number wanted. Default: 0.' },
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
            { rule: 'self.map(step, step.weight).isSorted()', message: 'weights of steps must not fall' },
          ],
          description:
            'Shares of the pods that have the new artifact, one after another; after the last all have. Default: 10, 25 and 50 for 60 seconds each.',
          items: {
            type: 'object',
            required: ['weight'],
            properties: {
              weight: {
                type: 'integer',
                minimum: 1,
                maximum: 99,
                description:
                  'Percent of the pods: they are added to the others, which are not touched; at least one, at most as many as the others.',
              },
              pauseSeconds: {
                type: 'integer',
                minimum: 0,
                maximum: 86400,
                default: 60,
                description: 'Seconds that it is watched before the next step.',
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
            'Seconds after the promotion in which a few pods keep the artifact before, so that the new one is judged on; where it does worse, the project goes back.',
        },
        analysis: {
          type: 'object',
          default: {},
          description:
            "What the canary's own metrics must show, by operation, beside the others' in the same time; breaking it aborts the rollout.",
          properties: {
            minRequests: {
              type: 'integer',
              minimum: 1,
              maximum: 1000000,
              default: 20,
              description:
                'Requests to an operation of the canary that are enough to say that it does well; those with fewer are named in the status.',
            },
            requireEvidence: {
              type: 'boolean',
              default: false,
              description:
                'A step waits until every operation in use has had minRequests of the canary. Default: it passes, and names those that have not.',
            },
            maxErrorPercent: {
              type: 'number',
              minimum: 0,
              maximum: 100,
              default: 1,
              description:
                "Percent of an operation's answers with 5xx that the canary may have beyond the other pods'. It is aborted where there are more, at least five, and chance does not explain them.",
            },
            maxP99Ms: {
              type: 'integer',
              minimum: 1,
              description:
                "Milliseconds that 99 in 100 of an operation's requests may take with the canary, unless the other pods take as long. Default: not judged.",
            },
          },
        },
      },
    },
  },
} as const satisfies Schema;

export const rolloutStatus = {
  type: 'object',
  description: 'The rollout that is under way, or the last one.',
  properties: {
    strategy: { type: 'string', enum: ['Rolling', 'Canary', 'InPlace'] },
    phase: { type: 'string', enum: ['Progressing', 'Succeeded', 'Failed', 'Aborted'] },
    revision: { type: 'integer', minimum: 1, description: 'What is rolled out.' },
    artifactHash: { type: 'string' },
    from: { type: 'integer', minimum: 1, description: 'The revision before, to which a failure returns.' },
    step: { type: 'integer', minimum: 0, description: 'Index of the step of a canary.' },
    weight: { type: 'integer', minimum: 0, maximum: 100, description: 'Percent of the pods that the step asks for.' },
    share: { type: 'integer', minimum: 0, maximum: 100, description: 'Percent of the ready pods that are its canary.' },
    unserved: {
      type: 'boolean',
      description:
        'It succeeded without a gateway pod, because none were wanted: the first pods show whether it is good, and a failure returns to `from`.',
    },
    watching: { type: 'boolean', description: 'All have it but a few pods, which keep the one before to compare.' },
    paused: { type: 'boolean', description: 'It stays at its step, by `kubectl gw pause`.' },
    asked: {
      type: 'string',
      maxLength: 64,
      description: 'The last that was asked of it by the annotation gw.dev/rollout.',
    },
    withoutEvidence: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description:
        'Operations in use that have had too few requests of the canary, in this step, to say that they do well.',
    },
    startedAt: { type: 'string', format: 'date-time' },
    steppedAt: { type: 'string', format: 'date-time', description: 'When the step had all its pods.' },
    progressedAt: { type: 'string', format: 'date-time', description: 'The last progress, for the deadline.' },
    endedAt: { type: 'string', format: 'date-time' },
    message: { type: 'string', maxLength: 4096, description: 'Where it stands, or why it ended.' },
  },
} as const satisfies Schema;

/** A revision that failed to roll out, and what had asked for it. */
export const failedStatus = {
  type: 'object',
  description:
    'The revision that failed to roll out. It is not tried again until another compiles, the spec or a Secret of the pods changes, or a Deployment asks for it.',
  required: ['revision', 'artifactHash', 'message'],
  properties: {
    revision: { type: 'integer', minimum: 1 },
    artifactHash: { type: 'string' },
    message: { type: 'string', maxLength: 4096 },
    at: { type: 'string', format: 'date-time' },
    generation: { type: 'integer', minimum: 0, description: 'metadata.generation with which it failed.' },
    deployment: { type: 'string', description: 'UID/GENERATION of the Deployment that had asked for it.' },
    secrets: { type: 'string', description: 'What tells the Secrets of the pods, as they were, from others.' },
  },
} as const satisfies Schema;

export type RolloutSpec = FromSchema<typeof rolloutSchema>;
export type RolloutStatus = FromSchema<typeof rolloutStatus>;
export type FailedRevision = FromSchema<typeof failedStatus>;
