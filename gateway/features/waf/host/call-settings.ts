/** Settings of inspections of one operation, in the engine's form; they stand at the begin of each frame. */
import { type DescribedInputs, mediaTypeOf } from '../../kit.ts';
import type { RuleRanges } from '../seclang/program.ts';
import { VARIABLES } from '../seclang/vocabulary.ts';
import { type OperationNames, type RemovedTarget, removalsFor } from './exclusions.ts';
import { FrameWriter } from './frame-writer.ts';
import { writeProofs } from './proof-frame.ts';
import { NO_PROOFS, type Proofs, proofsOf } from './proofs.ts';
import type { RuleIndex } from './rule-index.ts';
import type { WafSettings } from './settings.ts';

const VARIABLE_NAMES = Object.keys(VARIABLES);

/** Bits of the first number. */
const BLOCKS = 1;
const TELLS_VALUES = 2;
/** Matches that are not logged are in the verdict. */
const TELLS_ALL = 4;

/** Units of work of an inspection, each some nanoseconds: an earlier end than that of its CPU time, and always the same. */
const BUDGET = 50_000_000;

export interface CallOptions {
  readonly blocks: boolean;
  readonly tellsValues?: boolean;
  readonly tellsAll?: boolean;
  /** Units. */
  readonly budget?: number;
  readonly maxArguments?: number;
  readonly maxDepth?: number;
  /** Members of TX that are set before the first rule. */
  readonly presets?: readonly (readonly [name: string, value: string])[];
  readonly rules?: RuleRanges;
  readonly targets?: readonly RemovedTarget[];
  readonly proofs?: Proofs;
}

/** The beginning of a frame. */
export function callFrame(options: CallOptions): Uint8Array {
  const {
    blocks,
    tellsValues = false,
    tellsAll = false,
    budget = BUDGET,
    maxArguments = 1000,
    maxDepth = 64,
  } = options;
  const flags = (blocks ? BLOCKS : 0) | (tellsValues ? TELLS_VALUES : 0) | (tellsAll ? TELLS_ALL : 0);
  const frame = new FrameWriter().number(flags).number(budget).number(maxArguments).number(maxDepth);
  frame.list(options.presets ?? [], ([name, value]) => frame.text(name).text(value));
  writeRanges(frame, options.rules ?? []);
  frame.list(options.targets ?? [], ({ rules, variable, kind, name }) => {
    writeRanges(frame, rules);
    frame
      .number(VARIABLE_NAMES.indexOf(variable))
      .number(kind === 'name' ? 1 : 2)
      .text(name);
  });
  writeProofs(frame, options.proofs ?? NO_PROOFS);
  return frame.taken();
}

/** Makes the part of a frame that all requests of an operation share. `inputs`: null if they are not known. */
export function callSettings(
  settings: WafSettings,
  operation: OperationNames,
  index: RuleIndex,
  inputs: DescribedInputs | null,
): Uint8Array {
  const { maxArguments, maxDepth } = settings.requestBody;
  const known = settings.useDocument ? inputs : null;
  const { rules, targets } = removalsFor(settings.exclusions, operation, index);
  return callFrame({
    blocks: settings.blocks,
    tellsValues: settings.audit.values,
    maxArguments,
    maxDepth,
    presets: [...presetsOf(settings, operation, inputs), ...(known === null ? [] : knownPresets(operation))],
    rules: known?.body ? [...rules, ...index.find(REFUSE_BODIES, [])] : rules,
    targets,
    proofs: known === null ? NO_PROOFS : proofsOf(operation.path, known),
  });
}

/** Rules that refuse bodies of GET and HEAD: an operation has a body if it describes one. */
const REFUSE_BODIES = [[920170, 920171]] as const;

/**
 * A parameter at the end of a path is data, such as the name of a domain: what stands behind its dot is no extension.
 * One that takes several segments may be the path of a file.
 */
function knownPresets({ path }: OperationNames): readonly (readonly [name: string, value: string])[] {
  return path.endsWith('}') && !path.endsWith('+}') ? [['restricted_extensions', '']] : [];
}

/** Members of TX that are set before the first rule, which CRS takes in place of its defaults. */
function presetsOf(
  { paranoiaLevel, detectionParanoiaLevel, thresholds }: WafSettings,
  { method }: OperationNames,
  inputs: DescribedInputs | null,
): readonly (readonly [name: string, value: string])[] {
  return [
    ['blocking_paranoia_level', String(paranoiaLevel)],
    ['detection_paranoia_level', String(detectionParanoiaLevel)],
    ['inbound_anomaly_score_threshold', String(thresholds.inbound)],
    ['outbound_anomaly_score_threshold', String(thresholds.outbound)],
    // A request with another method has no operation: CRS would refuse each PUT.
    ['allowed_methods', `${method} HEAD OPTIONS`],
    [
      'allowed_request_content_type',
      CONTENT_TYPES.concat(describedTypes(inputs))
        .map((type) => `|${type}|`)
        .join(' '),
    ],
  ];
}

/** Types of bodies that the Core Rule Set allows by itself; others that an operation describes are allowed beside them. */
const CONTENT_TYPES = [
  ...[
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/xml',
    'application/xml',
    'application/soap+xml',
  ],
  'application/json',
];

function describedTypes(inputs: DescribedInputs | null): readonly string[] {
  return Object.keys(inputs?.body?.content ?? {}).map((type) => mediaTypeOf(type));
}

function writeRanges(frame: FrameWriter, ranges: RuleRanges): void {
  frame.list(ranges, ([from, to]) => frame.number(from).number(to));
}
