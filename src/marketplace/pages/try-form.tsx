import { isObject, type Json, type JsonObject, membersOf, requiredOf } from 'market-mcp-contract/json';
import { type DeliberateError, deliberateErrors } from '../core/marketplace-model.ts';
import type { ToolWithName } from '../core/registration.ts';
import { choicesOf, fieldText } from '../web/form-input.ts';
import { ChoiceField, Labelled, visibleText } from '../web/parts.tsx';
import { tryPath } from '../web/references.tsx';

export interface CallFormData {
  /** Initial values of the fields. */
  readonly arguments: JsonObject;
  /** Initial value of the other JSON, for arguments that the fields cannot send; null if they can. */
  readonly json: Json;
  readonly deliberate: DeliberateError | null;
  readonly examples: readonly { readonly arguments: JsonObject; readonly expect: string }[];
}

/** The form that calls a tool: a field for each argument, other JSON, and the kind of caller. */
export function CallForm({ data, tool }: { data: CallFormData; tool: ToolWithName }) {
  const { inputSchema } = tool.definition;
  const properties = membersOf(inputSchema);
  const required = requiredOf(inputSchema);
  return (
    <>
      <form method="post" action="/try" class="stack" data-answer="answer">
        <input type="hidden" name="tool" value={tool.name} />
        {Object.entries(properties).map(([name, property]) => (
          <Field
            name={name}
            schema={isObject(property) ? property : {}}
            value={Object.hasOwn(data.arguments, name) ? data.arguments[name] : undefined}
            required={required.includes(name)}
          />
        ))}
        {Object.keys(properties).length === 0 && <p class="soft">This tool takes no arguments.</p>}
        <details open={data.json !== null}>
          <summary>Send other JSON instead</summary>
          <label>
            <span>Arguments as JSON</span>
            <span class="hint">
              Used instead of the fields when it is not empty, even where it does not fit.
            </span>
            <textarea name="json" spellcheck={false}>
              {data.json === null ? '' : `\n${JSON.stringify(data.json, null, 2)}`}
            </textarea>
          </label>
        </details>
        <label>
          <span>Call as</span>
          <select name="deliberate">
            <option value="">A paying caller</option>
            {Object.entries(deliberateErrors).map(([way, title]) => (
              <ChoiceField value={way} now={data.deliberate} text={title} />
            ))}
          </select>
        </label>
        <span class="hint">
          The contract does not show how a token looks: header, claims and lifetime are those of the profile.
        </span>
        <button type="submit" class="primary" data-pending={`Calling ${visibleText(tool.name)}…`}>
          Call {visibleText(tool.name)}
        </button>
      </form>
      {data.examples.length > 0 && (
        <Labelled label="Saved examples">
          <ul>
            {data.examples.map((example) => (
              <li>
                <a href={tryPath(tool.name, example.arguments)}>
                  {visibleText(JSON.stringify(example.arguments))}
                </a>{' '}
                <span class="soft small">expects {example.expect}</span>
              </li>
            ))}
          </ul>
        </Labelled>
      )}
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: JsonObject;
  readonly value: Json | undefined;
  readonly required: boolean;
}

function Field({ name, schema, value, required }: FieldProps) {
  const field = `arg.${name}`;
  return (
    <label for={field}>
      <span>
        <code>{visibleText(name)}</code> {required ? '' : <span class="hint">optional</span>}
      </span>
      {typeof schema.description === 'string' && <span class="hint">{visibleText(schema.description)}</span>}
      <Control field={field} schema={schema} value={value} required={required} />
    </label>
  );
}

function Control({ field, schema, value, required }: Omit<FieldProps, 'name'> & { field: string }) {
  const text = fieldText(value);
  const choices = choicesOf(schema);
  if (choices) {
    return (
      <select name={field} id={field}>
        {!required && <option value="">(not sent)</option>}
        {choices.map((choice) => (
          <ChoiceField value={fieldText(choice)} now={text} />
        ))}
      </select>
    );
  }
  if (schema.type === 'number' || schema.type === 'integer') {
    return <input name={field} id={field} inputmode="decimal" value={text} />;
  }
  if (schema.type === 'array' || schema.type === 'object' || schema.type === undefined) {
    return <textarea name={field} id={field} spellcheck={false}>{`\n${text}`}</textarea>;
  }
  return <input name={field} id={field} value={text} spellcheck={false} />;
}
