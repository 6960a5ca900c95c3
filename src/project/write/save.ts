import { replaceFile } from 'market-mcp-contract/command';
import { sealOf } from '../read/read.ts';

/**
 * Writes a value as JSON to a file that only this user can read, atomically. The file contains a hash of its own inode and
 * birth time: `readSealed` (read.ts) believes no file that came with a clone or an archive.
 *
 * @throws CommandError `NOT_WRITABLE`.
 */
export async function saveSealed(path: string, value: object): Promise<void> {
  await replaceFile(path, 0o600, async (file) => {
    const seal = sealOf(await file.stat({ bigint: true }));
    await file.writeFile(JSON.stringify({ ...value, seal }));
  });
}
