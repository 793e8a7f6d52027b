/** How far GatewayProjects may go with their pods and Secrets, for the whole operator (D50). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { splitList } from '../config.ts';
import { isPodField, POD_FIELDS, type PodField, type PodPolicy } from '../objects/pod-policy.ts';

export interface PolicyFlags {
  readonly allowImages: readonly string[];
  readonly allowPodFields: readonly PodField[];
  readonly templatePatches: 'on' | 'off';
  readonly requireSecretGrants: boolean;
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
    throw new InvalidArgumentError(`"${unknown}" is none of ${Object.keys(POD_FIELDS).join(', ')}`);
  return [...before, ...names.filter(isPodField)];
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
      new Option('--template-patches <on|off>', 'whether spec.pods.template is taken')
        .choices(['on', 'off'])
        .default('on'),
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
  };
}
