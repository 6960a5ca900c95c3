/** Drops what was added first until no more than `most` entries are left. */
export function dropOldest(
  entries: Pick<Map<string, unknown> | Set<string>, 'size' | 'keys' | 'delete'>,
  most: number,
): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return;
    entries.delete(oldest);
  }
}
