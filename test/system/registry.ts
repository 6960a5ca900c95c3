import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { listen } from '../listen.ts';
import { directory } from '../project/directory.ts';

/** A registry with one package on this machine. */
export interface Registry {
  readonly url: string;
  publish(version: string): void;
  /** The number of requests for the package's versions. */
  asked(): number;
}

export async function startRegistry(name: string): Promise<Registry> {
  const versions: Record<string, object> = {};
  const tarballs = new Map<string, Buffer>();
  let asked = 0;
  const server = createServer(({ url = '' }, response) => {
    const tarball = tarballs.get(basename(url));
    if (tarball) return response.end(tarball);
    if (url !== `/${name}`) return response.writeHead(404).end('{}');
    asked += 1;
    const tags = { latest: Object.keys(versions).at(-1) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': tags, versions }));
  });
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    asked: () => asked,
    publish(version) {
      const place = directory();
      writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version }));
      const file = execFileSync('npm', ['pack', '--silent'], { cwd: place, encoding: 'utf8' }).trim();
      const bytes = readFileSync(join(place, file));
      tarballs.set(file, bytes);
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      versions[version] = { name, version, dist: { tarball: `${url}/-/${file}`, integrity } };
    },
  };
}
