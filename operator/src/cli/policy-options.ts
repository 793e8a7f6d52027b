/**
 * How far GatewayProjects may go with their pods and Secrets, for the whole operator (docs/decisions.md#resulting-pod).
 */
import { readFileSync } from 'node:fs';
import type { JsonObject } from '@gw/gateway/artifact';
import { messageOf } from '@gw/gateway/message-of';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import { splitList } from '../config.ts';
import { isRecord } from '../kube/kube-object.ts';
import { isPodField, POD_FIELDS, type PodField, type PodPolicy } from '../objects/pod-policy.ts';
import { patchTemplate } from '../objects/template-patch.ts';

export interface PolicyFlags {
  readonly allowImages: readonly string[];
  readonly allowPodFields: readonly PodField[];
  readonly templatePatches: 'on' | 'off';
  readonly requireSecretGrants: boolean;
  readonly podDefaults?: JsonObject;
}

const IMAGES = /^(\*|[A-Za-z0-9][A-Za-z0-9._:/@-]*(\/\*)?)$/;

function parseImages(text: string, before: readonly string[]): readonly string[] {
  if (!IMAGES.test(text) || text.includes('..'))
    throw new InvalidArgumentError('expected REPOSITORY, REPOSITORY:TAG, REPOSITORY@DIGEST, PREFIX/* or *');
  return [...before, text];
}

function parseFields(text: string, before: readonly PodField[]): readonly PodField[] {
  const names = splitList(text);
  const unknown = names.find((name) => !isPodField(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is not one of ${Object.keys(POD_FIELDS).join(', ')}`);
  return [...before, ...names.filter(isPodField)];
}

/** A minimal pod template, against which a patch is checked. */
const TEMPLATE: JsonObject = { metadata: {}, spec: { containers: [{ name: 'gateway' }] } };

function readPodDefaults(file: string): JsonObject {
  let read: unknown;
  try {
    read = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${messageOf(error)}`);
  }
  // Plain JSON, without dates and the like.
  const patch: unknown = JSON.parse(JSON.stringify(read ?? {}));
  const patched = isJsonObject(patch) ? patchTemplate(TEMPLATE, patch) : undefined;
  if (!isJsonObject(patch) || !patched?.ok)
    throw new InvalidArgumentError(
      `it is not a patch of a pod template: ${patched?.ok === false ? patched.message : 'expected metadata and spec'}`,
    );
  return patch;
}

function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

export function addPolicyOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--allow-images <image>',
        "image that pods may have beside those of --image's repository: REPOSITORY, REPOSITORY:TAG, REPOSITORY@DIGEST, PREFIX/* or *; repeatable",
      )
        .argParser(parseImages)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--allow-pod-fields <list>',
        `what spec.pods may ask for beyond the usual, comma-separated; repeatable: ${Object.keys(POD_FIELDS).join(', ')}`,
      )
        .argParser(parseFields)
        .default([], 'none'),
    )
    .addOption(
      new Option('--template-patches <on|off>', 'whether spec.pods.template is allowed')
        .choices(['on', 'off'])
        .default('on'),
    )
    .option(
      '--pod-defaults <file>',
      'YAML with a patch of the template of all gateway pods, such as resources, securityContext or nodeSelector: under what GatewayProjects say themselves',
      readPodDefaults,
    )
    .option(
      '--require-secret-grants',
      'use a Secret in a GatewayProject only where its annotation gw.dev/projects names the project, or is "*"',
      false,
    );
}

export function podPolicy(flags: PolicyFlags): PodPolicy {
  return {
    images: flags.allowImages,
    fields: new Set(flags.allowPodFields),
    templatePatches: flags.templatePatches === 'on',
    secretGrants: flags.requireSecretGrants,
    ...(flags.podDefaults ? { defaults: flags.podDefaults } : {}),
  };
}
