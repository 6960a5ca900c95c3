/** Rule `tool.to-do` reports descriptions that start like this. */
const toDo = 'TODO: what';

/** The description of a tool of which nothing is known. */
export const toolToDo = `${toDo} this tool returns, and when to use it.`;

/** The description of a field or parameter of which only the name is known, or a guess. */
export function fieldToDo(name: string, { isUnknown = false, isGuess = false } = {}): string {
  const type = isUnknown ? ', and its type: the samples contain no value' : '';
  const values = isGuess ? ' The samples contain only these values: are there others?' : '';
  return `${toDo} ${name} means, with its unit${type}.${values}`;
}
