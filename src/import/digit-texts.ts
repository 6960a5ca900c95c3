/** The pattern of an argument that is an integer of any size. */
export const digitsPattern = '^-?\\d+$';

/** The path of a member for `integers` of the source kit: `items[].id`, `filter["user.id"]`. */
export function integerPath(path: string, name: string): string {
  if (!/^[^.[\]"]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
