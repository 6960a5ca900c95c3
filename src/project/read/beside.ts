import { basename, dirname, posix } from 'node:path';
import type { Beside } from '../../import/openapi/references.ts';
import { uriDecoded } from '../../model/text.ts';
import { ProjectError } from '../errors.ts';
import { textOf } from './input.ts';
import { isInside, readIn } from './inside.ts';

/** The files in the folder of a document and below it, without links. */
export function besideFile(path: string): Beside {
  const [directory, root] = [dirname(path), basename(path)];
  return {
    named(file, from) {
      if (/^(?:[a-z][a-z\d+.-]+:|\/\/)/i.test(file))
        return { why: 'only files beside the document are read' };
      const path = uriDecoded(file);
      const folder = posix.dirname(from === '' ? root : from);
      const name = posix.isAbsolute(path) ? path : posix.join(folder, path);
      if (!isInside(name) || name.includes('#')) return { why: 'it is not in the folder of the document' };
      return { name: name === root ? '' : name };
    },
    async read(name) {
      try {
        return textOf(readIn(directory, name), name);
      } catch (error) {
        if (error instanceof ProjectError) throw error;
        const { code } = error as NodeJS.ErrnoException;
        const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
        throw new ProjectError('NOT_READABLE', `${name}: ${why}`, 'Check the path.', { cause: error });
      }
    },
  };
}
