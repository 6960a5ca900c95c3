import {
  CommandError,
  type ExitCode,
  numberIn,
  type Output,
  reject,
  unknownTool,
  unwrap,
} from 'market-mcp-contract/command';
import { type ProjectFacts, projectFacts } from '../../check/read-built-project.ts';
import { curlCommands } from '../../dev/curl-commands.ts';
import { localServer } from '../../dev/local-server.ts';
import { publishedState } from '../../dev/published-state.ts';
import { isDown, isServing, stateError, stateLines } from '../../dev/state.ts';
import { findProject, readManifest } from '../../project/manifest/manifest.ts';
import { presentProfile } from '../../project/manifest/project-profile.ts';
import { packageManagerOf } from '../../system/detect.ts';
import { compileProject } from '../../system/typescript-compiler.ts';

/** `market-mcp token [tool]`: prints a token of the local platform, and shell commands that call a tool while `dev` runs. */
export async function token(
  name: string | undefined,
  output: Output,
  { ttl }: { readonly ttl?: string },
): Promise<ExitCode> {
  const hint = `Write a whole number of seconds from 1 to ${longestSeconds}: --ttl 3600.`;
  const requestedSeconds = numberIn('--ttl', ttl, [1, longestSeconds], 'a lifetime', hint);
  const directory = findProject(process.cwd());
  const state = publishedState(directory);
  if (state.kind !== 'never-started' && isDown(state)) throw stateError(state);
  if (!isServing(state)) await requireCompiled(directory);
  const { tools } = await projectFacts(directory);
  const profile = presentProfile(readManifest(directory));
  const tool = selectTool(name, tools);
  const server = await localServer(directory, profile.token);
  const lifetimeSeconds = requestedSeconds ?? profile.token.lifetimeSeconds;
  const maxSeconds = server.maxTokenSeconds;
  if (lifetimeSeconds > maxSeconds) {
    const message = `is longer than the server accepts (${maxSeconds} seconds)`;
    const hint = `Write at most ${maxSeconds}, or set MAX_TOKEN_SECONDS=${lifetimeSeconds} in .env and restart the server.`;
    unwrap(reject('--ttl', String(lifetimeSeconds), message, hint));
  }
  const url = state.url ?? server.url;
  const call = {
    url,
    tool: tool.name,
    arguments: tool.examples?.[0]?.arguments ?? {},
    token: await server.platform.sign(url, lifetimeSeconds),
  };
  const commands = curlCommands(call, profile.token);
  const { run } = packageManagerOf(directory);
  output.line(`# The token is valid for ${lifetimeSeconds} s. Paste while "${run} dev" runs:`);
  output.line(commands);
  if (state.kind === 'old-build') output.comment([state.message, ...stateLines(state)]);
  return output.result({ ...call, state, expiresInSeconds: lifetimeSeconds, commands });
}

const longestSeconds = 86_400;

/** @throws CommandError `BUILD_FAILED` with the first errors. */
async function requireCompiled(directory: string): Promise<void> {
  const { ok, errors } = await compileProject(directory);
  if (ok) return;
  const hint = 'Correct the errors that the compiler reports above.';
  throw new CommandError('BUILD_FAILED', 'the project does not compile', hint, { details: errors });
}

type Tool = ProjectFacts['tools'][number];

function selectTool(name: string | undefined, tools: readonly Tool[]): Tool {
  const found = name === undefined ? tools[0] : tools.find((tool) => tool.name === name);
  if (found) return found;
  const names = tools.map((tool) => tool.name);
  throw unknownTool('this project', name ?? '', names);
}
