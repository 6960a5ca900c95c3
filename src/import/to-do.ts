/** Rule `tool.to-do` reports descriptions that start like this. */
const toDo = 'TODO: what';

/** The description of a tool of which nothing is known. */
export const toolToDo = `${toDo} this tool returns, and when to use it.`;

interface FieldFacts {
  /** Nothing shows the type of the field. */
  readonly isUnknown?: boolean;
  /** Its values look like an enumeration. */
  readonly values?: readonly string[];
}

/** The description of a field or parameter of which only the name is known, and perhaps some values. */
export function fieldToDo(name: string, { isUnknown = false, values = [] }: FieldFacts = {}): string {
  const type = isUnknown ? ', and its type: the samples contain no value' : '';
  const listed = values.length > 0 ? ` Values so far: ${values.join(', ')}.` : '';
  return `${toDo} ${name} means, with its unit${type}.${listed}`;
}
