import { type InputError, inputError } from 'market-mcp-contract/command';
import type { JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import { type EntryFacts, formErrors, registryEntry, type Stated } from './entry.ts';
import { endpointProblems } from './form.ts';
import type { DirectoryName } from './model.ts';

/** The flags of `listing` that not every directory reads. */
export type DirectoryFlag = Exclude<keyof Stated, 'endpoint'> | 'maintainer' | 'out' | 'force';

/** What a directory needs to know. */
export interface Subject extends EntryFacts {
  readonly token: PlatformProfile['token'];
  /** Names of the tools that may change something; undefined if a definition cannot be read from its source. */
  readonly writes: readonly string[] | undefined;
  /** A GitHub account. */
  readonly maintainer: string | undefined;
}

/** A field of a directory's form. */
export interface DirectoryField {
  readonly name: string;
  /** Undefined if only the author knows it. */
  readonly value?: string | undefined;
  /** What is asked of the author, or of the value. */
  readonly note?: string;
  /** The flag that sets the value; then the value must not be empty. */
  readonly flag?: string;
  /** In characters. */
  readonly max?: number;
  readonly form?: { readonly pattern: RegExp; readonly expected: string };
}

/** What a directory takes of a server. All facts are those of `sources`, read on `readOn`; nothing was submitted. */
export interface Directory {
  readonly title: string;
  /** Where to begin: an address, or a command. */
  readonly start: (subject: Subject) => string;
  readonly sources: readonly string[];
  readonly flags: readonly DirectoryFlag[];
  /** The file to write into the project: undefined, or with errors, if it cannot be. */
  readonly file?: (subject: Subject) =>
    | {
        readonly name: string;
        readonly document: JsonObject;
        readonly errors: readonly InputError[];
      }
    | undefined;
  readonly fields: (subject: Subject) => readonly DirectoryField[];
  /** A member of the option `wellKnown` of `serve`, as TypeScript. */
  readonly wellKnown: (subject: Subject) => string | undefined;
  /** The profile whose rules judge the tools as this directory does. */
  readonly platform?: string;
  /** What follows from calls that need the marketplace's token. */
  readonly calls: string;
}

/** The day on which the documents were read. */
export const readOn = '2026-11-23';

const yours = (name: string, note?: string): DirectoryField => ({
  name,
  ...(note !== undefined && { note }),
});
const address = ({ endpoint }: Subject): DirectoryField => ({ name: 'server URL', value: endpoint });

const oneLine = { pattern: /^.*$/, expected: 'one line' };
const semver = { pattern: /^\d+\.\d+\.\d+([-+][\w.+-]+)?$/, expected: 'a version such as 1.0.2' };
const packageForm = { pattern: /^[a-zA-Z\d]/, expected: 'a letter or digit first' };
const openaiDocuments = 'https://developers.openai.com/plugins/deploy';

export const directories: { readonly [name in DirectoryName]: Directory } = {
  registry: {
    title: 'the official MCP registry',
    start: (subject) => `mcp-publisher login ${loginOf(subject)}, then mcp-publisher publish`,
    sources: [
      'https://modelcontextprotocol.io/registry/remote-servers',
      'https://modelcontextprotocol.io/registry/authentication',
    ],
    flags: ['name', 'summary', 'registryName', 'repository', 'website', 'out', 'force'],
    file(subject) {
      const { server, errors } = registryEntry(subject, subject.token);
      return { name: 'server.json', document: server, errors };
    },
    fields: () => [],
    wellKnown: (subject) =>
      loginOf(subject).startsWith('http')
        ? "'mcp-registry-auth': 'v=MCPv1; k=ed25519; p=<public key>'"
        : undefined,
    calls:
      'Whoever finds the entry can list the tools; only callers with a token can call them, as server.json says.',
  },
  smithery: {
    title: 'Smithery',
    start: () => 'https://smithery.ai/new',
    sources: ['https://smithery.ai/docs/build/publish'],
    flags: [],
    fields: (subject) => [address(subject)],
    wellKnown: () => "'mcp/server-card.json': true",
    calls:
      'The gateway of Smithery forwards calls without it, so they are refused: Smithery supports OAuth only.',
  },
  glama: {
    title: 'Glama',
    start: () => 'https://glama.ai/mcp/connectors',
    sources: [
      'https://glama.ai/mcp/connectors, "How do I claim this server?" of each entry',
      'https://glama.ai/blog/2025-07-08-what-is-glamajson',
    ],
    flags: ['repository', 'maintainer', 'out', 'force'],
    file({ repository = '', maintainer }) {
      const owner = /^https:\/\/(?:www\.)?github\.com\/([^/]+)\//.exec(repository)?.[1];
      const account = maintainer ?? owner;
      if (account === undefined) return undefined;
      const isAccount = /^(?=.{1,39}$)[a-zA-Z\d]+(?:-[a-zA-Z\d]+)*$/.test(account);
      return {
        name: 'glama.json',
        document: { $schema: 'https://glama.ai/mcp/schemas/server.json', maintainers: [account] },
        errors: isAccount ? [] : [notAnAccount(account)],
      };
    },
    fields: (subject) => [
      address(subject),
      ...(subject.repository === undefined ? [] : [{ name: 'repository', value: subject.repository }]),
    ],
    wellKnown: () =>
      "'glama.json': { $schema: 'https://glama.ai/mcp/schemas/connector.json', maintainers: [{ email: '<of your account there>' }] }",
    calls: 'Glama inspects the tools; calls that it or its users make are refused.',
  },
  openai: {
    title: "ChatGPT's directory",
    start: () => `${openaiDocuments}/submission`,
    sources: [`${openaiDocuments}/submission`, `${openaiDocuments}/submission-errors`],
    flags: ['name', 'summary', 'description', 'website'],
    fields: (subject) => [
      address(subject),
      {
        name: 'package name',
        value: subject.project.replace(/^@[^/]+\//, '').replaceAll(/[^\w-]+/g, '-'),
        flag: 'name in package.json',
        max: 64,
        form: packageForm,
      },
      { name: 'version', value: subject.version, flag: 'version in package.json', max: 64, form: semver },
      { name: 'display name', value: subject.name, flag: '--name', max: 30, form: oneLine },
      { name: 'short description', value: subject.summary, flag: '--summary', max: 30, form: oneLine },
      { name: 'description', value: subject.description, flag: '--description', max: 4000 },
      subject.website === undefined
        ? yours('website', 'https; or --website')
        : { name: 'website', value: subject.website, flag: '--website', max: 1024 },
      yours('developer name', 'your verified identity'),
      yours('category'),
      yours('support, privacy policy and terms', 'an https URL each'),
      yours('starter prompts', 'up to 3, of up to 128 characters'),
      yours('test cases', 'exactly 5 that succeed and 3 that do not'),
      yours('recording', 'a URL that shows the main uses'),
      yours('reasons for the hints', 'one for each hint of each tool'),
      yours('release notes'),
    ],
    wellKnown: () => "'openai-apps-challenge': '<the token that the form shows>'",
    platform: 'openai-apps',
    calls: callsOf('OpenAI', 'OAuth 2.1'),
  },
  claude: {
    title: "Claude's connectors directory",
    start: () => 'https://claude.com/docs/connectors/building/submission',
    sources: [
      'https://claude.com/docs/connectors/building/submission',
      'https://support.claude.com/en/articles/12922490-remote-mcp-server-submission-guide',
    ],
    flags: ['name', 'summary', 'description', 'website'],
    fields: (subject) => [
      address(subject),
      { name: 'name', value: subject.name, flag: '--name' },
      { name: 'tagline', value: subject.summary, flag: '--summary' },
      { name: 'description', value: subject.description, flag: '--description' },
      { name: 'transport', value: 'Streamable HTTP' },
      subject.writes === undefined
        ? yours('reads or writes', 'the definition of a tool cannot be read from its source')
        : {
            name: 'reads or writes',
            value: subject.writes.length === 0 ? 'reads only' : `writes: ${subject.writes.join(', ')}`,
          },
      { name: 'documentation', value: subject.website, note: 'how to set it up and use it; or --website' },
      yours('use cases', 'with examples of prompts'),
      yours('privacy policy, support'),
      yours('test account', 'with which every tool can be called'),
    ],
    wellKnown: () => undefined,
    platform: 'claude-directory',
    calls: callsOf('Anthropic', 'OAuth 2.0'),
  },
};

/** How an author proves to own the namespace of the registry's name; by http if the server itself is at its domain. */
function loginOf({ registryName = '', endpoint }: Subject): string {
  if (registryName.startsWith('io.github.')) return 'github';
  const domain = registryName.split('/', 1)[0]?.split('.').toReversed().join('.');
  const method = domain === new URL(endpoint).hostname ? 'http' : 'dns';
  return `${method} --domain ${domain} --private-key <key>`;
}

function callsOf(owner: string, oauth: string): string {
  return `The reviewers of ${owner} call the tools without it, so this server cannot pass as it is. The directory takes servers that need no token, and those with ${oauth}.`;
}

function notAnAccount(name: string): InputError {
  const hint = 'Write --maintainer ada, the account with which you sign in there.';
  return inputError('--maintainer', name, 'is not the name of a GitHub account', hint);
}

/** The errors of the fields and of the address that an author can correct. */
export function directoryErrors(
  fields: readonly DirectoryField[],
  { endpoint }: Subject,
): readonly InputError[] {
  return [...formErrors(endpointProblems(endpoint)), ...fields.flatMap(errorsOf)];
}

function errorsOf({ name, value = '', flag, max = Infinity, form }: DirectoryField): readonly InputError[] {
  if (flag === undefined) return [];
  const hint = flag.startsWith('--') ? `Write ${flag} "…".` : 'Correct it.';
  const length = [...value].length;
  if (value.trim() === '') return [inputError(flag, undefined, `the ${name} is missing`, hint)];
  const isLong = length > max;
  if (!isLong && form?.pattern.test(value) !== false) return [];
  const expected = isLong ? `up to ${max} characters, got ${length}` : form?.expected;
  return [inputError(flag, value, `is not a valid ${name}: expected ${expected}`, hint)];
}
