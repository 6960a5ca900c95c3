import type { Api } from './imported-tool.ts';

/** The name in a host: `api.github.com` → github; undefined if the host is an IP address. */
function hostWords(url: string | null): readonly string[] | undefined {
  const labels = url === null ? [] : new URL(url).hostname.split('.');
  const isShared = /^(co|com|org|net|gov|ac|edu)$/.test(labels.at(-2) ?? '');
  const name = isShared && labels.length > 2 ? labels.at(-3) : labels.at(-2);
  const words = (name ?? '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? '') || words.length === 0) return undefined;
  return words;
}

function titleWords(title: string): readonly string[] {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !fillers.has(word));
  if (words.length > 0) return words.slice(0, 3);
  return ['api'];
}

/** Words in a title that do not name the API. */
const fillers = new Set(
  'the a an api apis rest restful v1 v2 v3 v4 http json openapi swagger public web service services'.split(
    ' ',
  ),
);

/** The name of an API's file, and the prefix of its variables: `github`, `GITHUB`. */
export function apiName(
  url: string | null,
  title: string,
  number = 1,
): { readonly file: string; readonly prefix: string } {
  const words = [...(hostWords(url) ?? titleWords(title)), ...(number > 1 ? [String(number)] : [])];
  const name = words.join('-').slice(0, 40);
  const file = /^[a-z]/.test(name) ? name : `api-${name}`;
  return { file, prefix: file.replaceAll('-', '_').toUpperCase() };
}

/** An API without keys. */
export function apiAt(
  url: string | null,
  { file, prefix, title }: { readonly file: string; readonly prefix: string; readonly title: string },
): Api {
  const address = { name: `${prefix}_URL`, kind: 'url', text: `Address of ${title}` } as const;
  return { file, title, address: url === null ? address : { ...address, fallback: url }, sharedKeys: [] };
}
