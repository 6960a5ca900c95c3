import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './support.ts';

/** A stage of a Dockerfile: its name and its instructions. */
interface Stage {
  readonly name: string;
  readonly from: string;
  readonly steps: readonly (readonly [instruction: string, rest: string])[];
}

/**
 * Executes a Dockerfile without Docker: each stage is a directory for its WORKDIR, COPY copies, RUN runs
 * there. Returns the directory of the last stage, with the contents of the image.
 *
 * @param context the build context, which `.dockerignore` filters
 * @param at an empty directory for the stages
 * @param env of the RUN steps
 */
export async function buildImage(
  context: string,
  at: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const sent = join(at, 'context');
  sendContext(context, sent);
  const places = new Map<string, string>();
  let last = '';
  for (const { name, from, steps } of stagesOf(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    last = join(at, name);
    mkdirSync(last);
    const base = places.get(from);
    if (base) cpSync(base, last, { recursive: true, verbatimSymlinks: true });
    places.set(name, last);
    for (const [instruction, rest] of steps) {
      if (instruction === 'COPY') copy(rest, sent, last, places);
      if (instruction === 'RUN') await runStep(rest, last, env);
    }
  }
  return last;
}

function stagesOf(text: string): readonly Stage[] {
  const stages: { name: string; from: string; steps: [string, string][] }[] = [];
  for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === 'FROM') {
      const [from = '', , name = `stage-${stages.length}`] = rest.split(' ');
      stages.push({ name, from, steps: [] });
    } else if (instruction !== '') stages.at(-1)?.steps.push([instruction, rest]);
  }
  return stages;
}

function copy(rest: string, sent: string, place: string, places: ReadonlyMap<string, string>): void {
  const words = rest.split(' ');
  const stage = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const from = stage === undefined ? sent : places.get(stage);
  if (from === undefined) throw new Error(`there is no stage ${stage}`);
  const target = String(words.pop());
  for (const word of words) {
    const source = join(from, word.replace(/^\/app\//, ''));
    if (!existsSync(source)) throw new Error(`COPY ${rest}: there is no ${word}`);
    const into =
      target.endsWith('/') && word !== '.'
        ? join(place, target, word.replace(/^.*\//, ''))
        : join(place, target);
    cpSync(source, into, { recursive: true, verbatimSymlinks: true });
  }
}

async function runStep(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { status, stdout, stderr } = await run('sh', ['-c', command], { cwd, env });
  if (status !== 0) throw new Error(`RUN ${command} exited ${status}\n${stdout}\n${stderr}`);
}

/** The last matching pattern decides; a pattern for a directory matches its contents. */
function sendContext(context: string, sent: string): void {
  const patterns = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const isSent = (path: string) => {
    let ignored = false;
    for (const pattern of patterns) {
      const plain = pattern.replace(/^!/, '');
      if (expressionOf(plain).test(path)) ignored = !pattern.startsWith('!');
    }
    return !ignored;
  };
  const send = (directory: string) => {
    for (const entry of readdirSync(join(context, directory), { withFileTypes: true })) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (!isSent(path)) continue;
      mkdirSync(join(sent, directory), { recursive: true });
      if (entry.isDirectory()) send(path);
      else cpSync(join(context, path), join(sent, path));
    }
  };
  send('');
}

function expressionOf(pattern: string): RegExp {
  const glob = { '**/': '(.*/)?', '*': '[^/]*', '.': '\\.' };
  const source = pattern.replaceAll(/\*\*\/|\*|\./g, (token) => glob[token as keyof typeof glob]);
  return new RegExp(`^${source}(/.*)?$`);
}

/** The command of the image. */
export function commandOf(directory: string): readonly string[] {
  const [, words = '[]'] = /^CMD (\[.*\])$/m.exec(readFileSync(join(directory, 'Dockerfile'), 'utf8')) ?? [];
  return JSON.parse(words);
}
