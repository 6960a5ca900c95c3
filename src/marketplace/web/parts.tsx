import type { Child } from 'hono/jsx';
import type { Problem } from 'market-mcp-contract/definition';
import { isObject, type Json } from 'market-mcp-contract/json';

/** Untrusted text with its control and direction characters made visible; line breaks are kept. */
export function visibleText(text: unknown): string {
  const json = text === undefined ? '' : JSON.stringify(text);
  const plainText = typeof text === 'string' ? text : json;
  return plainText.replaceAll(
    /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/**
 * Attributes of a part of a page that changes while the page is open.
 *
 * @param url of a page or fragment that contains the part, for a GET
 * @param topics of the changes after which the script updates the part
 */
export function live(id: string, url: string, ...topics: readonly string[]) {
  return { id, 'data-live': url, 'data-topic': topics.join(' ') };
}

export type Mark = 'pass' | 'advice' | 'fail' | 'none' | 'running';

export function Tag({ mark = 'none', children }: { mark?: Mark; children?: Child }) {
  return <span class={`tag small ${mark}`}>{children}</span>;
}

export function Notice({
  mark,
  title,
  lines = [],
}: {
  mark: Mark;
  title: string;
  lines?: readonly string[];
}) {
  return (
    <div class={`notice ${mark}`} role={mark === 'fail' ? 'alert' : 'status'}>
      <strong>{visibleText(title)}</strong>
      {lines.length === 1 && <p>{visibleText(lines[0])}</p>}
      {lines.length > 1 && (
        <ul>
          {lines.map((line) => (
            <li>{visibleText(line)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function Head({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="head">
      <h1>{title}</h1>
      <p class="soft">{children}</p>
    </div>
  );
}

/** A scrollable text. */
export function Text({ text, id }: { text: string; id?: string }) {
  return (
    <pre {...(id && { id })} tabindex={0}>
      {visibleText(text)}
    </pre>
  );
}

/** Names and their values. */
export function FieldList({ fields }: { fields: { readonly [name: string]: Child } }) {
  return (
    <dl class="fields small">
      {Object.entries(fields).map(([name, value]) => (
        <>
          <dt class="mono">{name}</dt>
          <dd class="soft">{value}</dd>
        </>
      ))}
    </dl>
  );
}

export function Labelled({ label, children }: { label: string; children?: Child }) {
  return (
    <div class="stack tight">
      <span class="label small">{label}</span>
      {children}
    </div>
  );
}

/** Stands where there is nothing to show; `register` is the text of a link to the form. */
export function Empty({ title, register, children }: { title: string; register?: string; children?: Child }) {
  return (
    <div class="panel empty">
      <h2>{title}</h2>
      <p class="soft">{children}</p>
      {register && <LinkButton to="/register" primary label={register} />}
    </div>
  );
}

export function LinkButton({ to, label, primary }: { to: string; label: string; primary?: boolean }) {
  return (
    <a class={`button ${primary ? 'primary' : ''}`} href={to}>
      {label}
    </a>
  );
}

/** The button that sends a form. */
export function Submit({ label }: { label: string }) {
  return (
    <div class="row">
      <button type="submit" class="primary">
        {label}
      </button>
    </div>
  );
}

/** A button that sends fixed fields. */
export function PostButton({
  to,
  fields = {},
  label,
  primary,
}: Parameters<typeof LinkButton>[0] & { fields?: { readonly [name: string]: string } }) {
  return (
    <form method="post" action={to}>
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class={primary ? 'primary' : ''}>
        {label}
      </button>
    </form>
  );
}

/** Copies the text of an element. */
export function CopyButton({ of, label }: { of: string; label: string }) {
  return (
    <button type="button" data-copy={of}>
      {label}
    </button>
  );
}

export function ChoiceField({
  value,
  now,
  text = value,
}: {
  value: string;
  now: string | null;
  text?: string;
}) {
  return (
    <option value={value} selected={value === now}>
      {visibleText(text)}
    </option>
  );
}

export function CodeCell({ children }: { children?: Child }) {
  return (
    <td>
      <code>{children}</code>
    </td>
  );
}

/** A table that scrolls sideways if necessary; a click on a heading sorts it. */
export function Table({
  label,
  heads,
  children,
}: {
  label: string;
  heads: readonly string[];
  children?: Child;
}) {
  return (
    <section class="scroll" tabindex={0} aria-label={label}>
      <table class="small">
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">
                <button type="button">{visibleText(head)}</button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

const maxRows = 200;
const maxColumns = 12;

/** JSON for people: lists of objects as tables, links as links. Only images contained in the data itself are shown. */
export function Value({ value, name = 'result' }: { value: Json | undefined; name?: string }): Child {
  if (value === null || value === undefined) return <span class="soft">null</span>;
  if (typeof value === 'string') return <Words text={value} />;
  if (typeof value !== 'object') return <span>{String(value)}</span>;
  if (Array.isArray(value)) return <List items={value} name={name} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span class="soft">{'{}'}</span>;
  return (
    <FieldList
      fields={Object.fromEntries(
        entries.map(([key, member]) => [visibleText(key), <Value value={member} name={key} />]),
      )}
    />
  );
}

function List({ items, name }: { items: readonly Json[]; name: string }): Child {
  if (items.length === 0) return <span class="soft">empty list</span>;
  const rows = items.filter(isObject).slice(0, maxRows);
  if (rows.length < Math.min(items.length, maxRows)) {
    return (
      <ul>
        {items.slice(0, maxRows).map((item) => (
          <li>
            <Value value={item} name={name} />
          </li>
        ))}
      </ul>
    );
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, maxColumns);
  return (
    <>
      <Table label={visibleText(name)} heads={columns}>
        {rows.map((row) => (
          <tr>
            {columns.map((column) => (
              <td class={typeof row[column] === 'number' ? 'num' : ''}>
                <Value value={row[column]} name={column} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {items.length > rows.length && (
        <p class="soft small">and {items.length - rows.length} more, see the JSON</p>
      )}
    </>
  );
}

const drawableImage = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

function Words({ text }: { text: string }) {
  if (drawableImage.test(text)) return <img src={text} alt="found in the result" width="160" />;
  if (/^https?:\/\/\S+$/i.test(text) && URL.canParse(text)) {
    return (
      <a href={text} rel="noopener noreferrer nofollow" target="_blank">
        {visibleText(text)}
      </a>
    );
  }
  return <span>{visibleText(text)}</span>;
}

export function Problems({ problems }: { problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul>
      {problems.slice(0, 20).map(({ path, expected, actual }) => (
        <li>
          <code>{visibleText(path ?? '')}</code>: expected {visibleText(expected)}, got {visibleText(actual)}
        </li>
      ))}
    </ul>
  );
}

/** One entry of a list of verdicts. */
export function Fact({ title, mark = 'none', value }: { title: string; mark?: string; value: Child }) {
  return (
    <div>
      <dt class="soft small">{title}</dt>
      <dd class={`marked ${mark}`}>{value}</dd>
    </div>
  );
}

/** An absolute time: `2 minutes ago` would become wrong on an open page. */
export function Time({ at }: { at: string }) {
  return <time datetime={at}>{at.slice(0, 19).replace('T', ' ')} UTC</time>;
}
