/**
 * A user's command for a running rollout, as an annotation of the GatewayProject: it runs once, since the status names
 * the last one that was carried out. An annotation, so that no tool that owns the spec reverts it. Pure.
 */
import { GROUP } from '../../../api/schema.ts';

export const ANNOTATION_ROLLOUT = `${GROUP}/rollout`;

const ACTIONS = ['pause', 'promote', 'promote-full', 'abort', 'retry'] as const;
export type RolloutAction = (typeof ACTIONS)[number];

export interface RolloutCommand {
  readonly action: RolloutAction;
  /** Revision that the user has seen: the command applies to no other. */
  readonly revision: number;
  /** Identifies the command. */
  readonly id: string;
}

export function commandText({ action, revision, id }: RolloutCommand): string {
  return `${action} ${revision} ${id}`;
}

/** Returns undefined if the annotation is not a valid command. */
export function readCommand(annotations: Readonly<Record<string, string>> | undefined): RolloutCommand | undefined {
  const [, name, revision, id] =
    /^([a-z-]+) ([0-9]{1,9}) ([\w-]{1,64})$/.exec(annotations?.[ANNOTATION_ROLLOUT] ?? '') ?? [];
  const action = ACTIONS.find((each) => each === name);
  return action && id !== undefined ? { action, revision: Number(revision), id } : undefined;
}
