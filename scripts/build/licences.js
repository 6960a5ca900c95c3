import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A plugin of rolldown that writes `LICENSES.txt` beside the bundle: the licences of the bundled packages.
 *
 * @returns {import('rolldown').Plugin}
 */
export function licences() {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: licencesOf(modules) });
    },
  };
}

/** Each licence once, below its packages and their copyright. @param {readonly string[]} modules paths */
function licencesOf(modules) {
  const directories = modules.flatMap((path) => {
    const [, directory, name] = /^(.*?node_modules\/((?:@[^/]+\/)?[^/]+))/.exec(path) ?? [];
    return name === undefined ? [] : [[name, directory]];
  });
  const owners = new Map();
  for (const [name, directory] of [...new Map(directories)].sort()) {
    const { title, copyright, text } = licenceOf(name, directory);
    owners.set(text, [...(owners.get(text) ?? []), [title, ...copyright].join('\n  ')]);
  }
  return [...owners].map(([text, packages]) => `${packages.join('\n')}\n\n${text}\n`).join('\n\n');
}

/** A licence text with unwrapped paragraphs and separate copyright lines, so that equal licences have equal texts. */
function licenceOf(name, directory) {
  const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const lines = file ? readFileSync(join(directory, file), 'utf8').trim().split(/\r?\n/) : [license];
  const isCopyright = (line) => /^\W*(?:MIT License )?copyright (?:\(c\)|©|\d)/i.test(line);
  return {
    title: `${name} ${version} (${license})`,
    copyright: lines.filter(isCopyright).map((line) => line.trim()),
    text: lines
      .filter((line) => !isCopyright(line))
      .join('\n')
      .split(/\n\s*\n/)
      .map((paragraph) => paragraph.trim().replaceAll(/\s+/g, ' '))
      .join('\n\n')
      .trim(),
  };
}
