/** Conditions about other managers that set fields of a project's objects. Pure. */

import type { GatewayProject } from '../../api/resources.ts';
import type { Condition } from '../../api/shared.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { conditionOf, conditions } from '../../runtime/conditions.ts';
import { eventOf } from '../../runtime/event-of.ts';
import type { EventRecord, FieldConflict } from '../../runtime/objects.ts';

export interface Conflict {
  readonly object: KubeObject;
  readonly conflict: FieldConflict;
}

const TYPE = 'FieldConflict';

/**
 * Returns an Event for retaken fields, and a condition, while it lasts, for fields that are left to another manager.
 */
export function fieldConflicts(
  project: GatewayProject,
  conflicts: readonly Conflict[],
  now: Date,
): { readonly conditions: readonly Condition[]; readonly events: readonly EventRecord[] } {
  const events = conflicts
    .filter(({ conflict }) => !conflict.left)
    .map((conflict) => event(`${textOf(conflict)}: the operator takes them back`));
  const left = conflicts.filter(({ conflict }) => conflict.left);
  if (left.length === 0) return { conditions: [], events };
  const message = `${left.map(textOf).join('; ')} repeatedly: the operator leaves them to it for now`;
  const before = conditionOf(project, TYPE);
  return {
    conditions: conditions(
      [{ type: TYPE, status: 'True', reason: TYPE, message }],
      project.status?.conditions,
      project.metadata.generation,
      now,
    ),
    events: before?.message === message ? events : [...events, event(message)],
  };
}

function textOf({ object, conflict }: Conflict): string {
  return `"${conflict.manager}" sets ${conflict.fields.join(', ')} of ${object.kind} "${object.metadata.name}"`;
}

function event(note: string): EventRecord {
  return eventOf(TYPE, 'Apply', note);
}
