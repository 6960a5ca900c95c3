import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bounds } from '../../packages/contract/src/json/walk.ts';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { inspectToolList } from '../../packages/contract/src/rules/inspect.ts';
import { toolsOfDocument } from '../../src/import/openapi/index.ts';
import { readOpenApi } from '../../src/import/openapi/openapi-document.ts';
import { checkedDocument, operationsOf } from '../../src/import/openapi/operations.ts';
import { prepareTools } from '../../src/import/prepare.ts';
import { makeProject, runProgram } from './project.ts';
import { hasTypedAnswer } from './typed.ts';

/** The result of importing one document. */
export interface TakenOver {
  readonly version: string;
  readonly megabytes: number;
  readonly operations: number;
  /** Operations with a typed JSON answer on success. */
  readonly typed: number;
  /** Those of them that became tools: they compile, and no static MUST rule fails. */
  readonly tools: number;
  /** Other operations that became tools. */
  readonly others: number;
  /** For operations with a typed answer: each reason, how many, and one of them. */
  readonly refused: readonly Refused[];
  /** For all other operations. */
  readonly refusedOthers: readonly Refused[];
  /** Milliseconds to list the operations. */
  readonly listMs: number;
  /** The longest time to import one operation, in milliseconds. */
  readonly slowestMs: number;
  /** Why the whole document gave no project; `tools` and `others` are 0 then. */
  readonly failure?: string;
}

export interface Refused {
  readonly reason: string;
  readonly count: number;
  readonly example: string;
}

/**
 * Imports each operation of a document separately, then makes one project of all that succeed and compiles it.
 *
 * @param place an empty directory
 * @param modules a node_modules directory with the dependencies of a generated project
 * @throws Error if the document cannot be read or listed
 */
export async function takeOver(path: string, place: string, modules: string): Promise<TakenOver> {
  const text = readFileSync(path, 'utf8');
  const read = await readOpenApi(text, path);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  const whole = checkedDocument(read.value, '');
  const started = performance.now();
  const listed = whole.ok ? await runProgram(['--from-openapi', path, '--json'], place) : null;
  const listMs = performance.now() - started;

  const operations = operationsOf(read.value).map((operation) => {
    const name = `${operation.method.toUpperCase()} ${operation.path}`;
    const typed = hasTypedAnswer(read.value.root.members, operation.found.members);
    const begun = performance.now();
    const imported = whole.ok
      ? toolsOfDocument(read.value, { operations: [name], tool: null }, '', null)
      : whole;
    const prepared = imported.ok ? prepareTools(imported.value, context) : imported;
    const ms = performance.now() - begun;
    return { name, typed, ms, reason: prepared.ok ? null : (prepared.errors[0]?.message ?? 'no reason') };
  });
  const count = listed === null ? operations.length : JSON.parse(listed).operations.length;
  const accepted = operations.filter(({ reason }) => reason === null);
  const names = accepted.map(({ name }) => name);
  const failure =
    count === operations.length
      ? await failureOf(path, names, place, modules)
      : `${count} operations listed, ${operations.length} read`;

  const typed = operations.filter((one) => one.typed);
  const made = failure === null ? accepted : [];
  return {
    version: read.value.version,
    megabytes: text.length / 1e6,
    operations: operations.length,
    typed: typed.length,
    tools: made.filter((one) => one.typed).length,
    others: made.filter((one) => !one.typed).length,
    refused: grouped(typed),
    refusedOthers: grouped(operations.filter((one) => !one.typed)),
    listMs,
    slowestMs: Math.max(0, ...operations.map(({ ms }) => ms)),
    ...(failure !== null && { failure }),
  };
}

/**
 * Makes projects of operations, as many in each as a server may have, compiles them and judges what they serve.
 *
 * @returns null, or why a project does not do what it must
 */
async function failureOf(path: string, names: readonly string[], place: string, modules: string) {
  for (let from = 0; from < names.length; from += bounds.tools) {
    const some = names.slice(from, from + bounds.tools);
    const flags = some.flatMap((name) => ['--operation', name]);
    try {
      const args = ['--from-openapi', path, ...flags];
      const { directory, tools } = await makeProject(`made-${from}`, args, place, modules);
      const served = (await import(join(directory, 'dist/src/tools/index.js'))).tools as readonly unknown[];
      const plain = JSON.parse(JSON.stringify(served)) as readonly { readonly [name: string]: unknown }[];
      const failed = inspectToolList(
        plain.map(({ examples: _, ...definition }) => definition),
        context,
      ).filter(({ level, status }) => level === 'must' && status === 'fail');
      if (failed.length > 0) return JSON.stringify(failed).slice(0, 2_000);
      if (tools.length !== some.length || served.length !== some.length)
        return `${some.length} accepted, ${tools.length} written, ${served.length} served`;
    } catch (error) {
      return String((error as Error).message).slice(0, 2_000);
    }
  }
  return null;
}

function grouped(
  operations: readonly { readonly name: string; readonly reason: string | null }[],
): readonly Refused[] {
  const groups = new Map<string, string[]>();
  for (const { name, reason } of operations) {
    if (reason === null) continue;
    const plain = reason.replaceAll(/"[^"]*"/g, '…').replace('cannot be a tool: ', '');
    groups.set(plain, [...(groups.get(plain) ?? []), name]);
  }
  return [...groups]
    .map(([reason, names]) => ({ reason, count: names.length, example: names[0] ?? '' }))
    .toSorted((a, b) => b.count - a.count);
}
