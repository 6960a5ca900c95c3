import { orCommandError } from 'market-mcp-contract/command';
import type { ImportRun } from '../../changes/import-run.ts';
import { findKeyValues, type RequestKeys, rememberTypedKey } from '../../changes/key-values.ts';
import { lacksAnswer, operationKeys } from '../../changes/openapi.ts';
import { requestKeys, requestsThatMayChange, sendsRequests } from '../../changes/request-tools.ts';
import { mcpServerAt, serverKeys, tokenVariable } from '../../changes/server-tools.ts';
import { TokenRefusal } from '../../project/source/mcp-server.ts';
import type { PartialAnswers } from '../../questions/partial-answers.ts';
import {
  type KeyAccess,
  type OpenApiAnswers,
  type RequestAnswers,
  type ServerAnswers,
  toolAnswers,
} from '../../questions/tool-answers.ts';
import type { Asker } from './asker.ts';
import { Back } from './leaving.ts';
import type { PromptContext } from './prompt-context.ts';
import { readAnsweredRequests } from './request-prompts.ts';

/** The permissions of an author, asked for before a request is sent. */
export type Consent = Pick<PartialAnswers, 'send' | 'env'>;

/** Asks for the keys that a request lacks, and whether what may change something, or is unknown, is sent. */
export async function askConsent(
  asker: Asker,
  partialAnswers: PartialAnswers,
  { run }: PromptContext,
  isBack: boolean,
): Promise<Consent> {
  const consent = await consentTo(asker, partialAnswers, run);
  if (consent === undefined && isBack) throw new Back();
  return consent ?? {};
}

/** Undefined if there was nothing to ask. */
async function consentTo(
  asker: Asker,
  partialAnswers: PartialAnswers,
  run: ImportRun,
): Promise<Consent | undefined> {
  const answers = toolAnswers(partialAnswers);
  if (answers.kind === 'openapi') return consentToOperation(asker, answers, run);
  if (answers.kind === 'url') return consentToToken(asker, answers, run);
  if (answers.kind === 'request') return consentToRequests(asker, answers, run);
  return undefined;
}

async function consentToRequests(
  asker: Asker,
  answers: RequestAnswers,
  run: ImportRun,
): Promise<Consent | undefined> {
  const requests = await readAnsweredRequests(answers, run);
  const env = sendsRequests(answers)
    ? await askKeys(asker, requests.map(requestKeys), answers, run)
    : undefined;
  const [writing] = requestsThatMayChange(answers, requests);
  if (!writing || answers.send !== undefined) return env && { env };
  const { method, path } = writing.call;
  const question = `${method.toUpperCase()} ${path} may change something. Send it once, for real?`;
  const send = await asker.confirm(question, false);
  return env ? { send, env } : { send };
}

async function consentToOperation(
  asker: Asker,
  answers: OpenApiAnswers,
  run: ImportRun,
): Promise<Consent | undefined> {
  const {
    send: consent,
    operations: [operation],
  } = answers;
  const isOpen = consent === undefined && (await lacksAnswer(answers, run));
  const question = `The document does not say what ${operation} answers. Send it once, for real?`;
  const send = isOpen ? await asker.confirm(question, false) : consent;
  const keys = send ? await operationKeys(answers, run) : undefined;
  const env = keys && (await askKeys(asker, [keys], answers, run));
  if (!isOpen) return env && { env };
  const permissions: { send?: boolean; env?: readonly string[] } = {};
  if (send !== undefined) permissions.send = send;
  if (env) permissions.env = env;
  return permissions;
}

async function consentToToken(
  asker: Asker,
  answers: ServerAnswers,
  run: ImportRun,
): Promise<Consent | undefined> {
  const { url, env } = answers;
  const refusalOf = async (attempt: KeyAccess) => {
    const server = await orCommandError(() => mcpServerAt(url, attempt, run));
    if (server instanceof TokenRefusal) return server;
    return undefined;
  };
  if (!(await refusalOf(answers))) return undefined;
  const keys = serverKeys(url);
  const { unpermitted } = await findKeyValues(keys, answers, run);
  if (unpermitted.length > 0 && (await asker.confirm(sendQuestion(tokenVariable, [keys.origin]), false))) {
    const permissions = [...env, tokenVariable];
    const refusal = await refusalOf({ ...answers, env: permissions });
    if (!refusal) return { env: permissions };
    asker.warn([refusal.message]);
  }
  for (;;) {
    const token = await asker.hidden(`Token of ${keys.origin} (it is not shown, and not stored)`);
    rememberTypedKey(run, tokenVariable, keys.origin, token);
    const refusal = await refusalOf(answers);
    if (!refusal) return {};
    asker.warn([refusal.message]);
  }
}

/**
 * Asks for each key without a value: whether the variable of the environment is sent, else for the key itself.
 *
 * @returns the variables that may be sent; undefined if there was nothing to ask
 */
async function askKeys(
  asker: Asker,
  requests: readonly RequestKeys[],
  access: KeyAccess,
  run: ImportRun,
): Promise<readonly string[] | undefined> {
  const keyValues = await Promise.all(requests.map((request) => findKeyValues(request, access, run)));
  const origins = new Map<string, Set<string>>();
  for (const { origin, unpermitted, missing } of keyValues) {
    for (const variable of [...unpermitted, ...missing])
      origins.set(variable, new Set(origins.get(variable)).add(origin));
  }
  if (origins.size === 0) return undefined;
  const inEnvironment = new Set(keyValues.flatMap(({ unpermitted }) => unpermitted));
  const permissions = [...access.env];
  for (const [variable, receivers] of origins) {
    if (inEnvironment.has(variable) && (await asker.confirm(sendQuestion(variable, [...receivers]), false))) {
      permissions.push(variable);
      continue;
    }
    const value = await asker.hidden(`Value of ${variable} (it is not shown, and written to .env only)`);
    for (const origin of receivers) rememberTypedKey(run, variable, origin, value);
  }
  return permissions;
}

function sendQuestion(variable: string, origins: readonly string[]): string {
  return `Send ${variable} from your environment to ${origins.join(' and ')}?`;
}
