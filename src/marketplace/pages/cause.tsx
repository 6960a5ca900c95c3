import type { CallCause } from '../core/model.ts';
import { FieldList, shown, Text } from '../web/parts.tsx';
import { SourceLink } from '../web/references.tsx';

/** The cause of a failed call: the error, the request to the API, the place and the fix; then the log. */
export function Why({ cause }: { cause: CallCause }) {
  const { message, source, at, fix, lines } = cause;
  return (
    <section class="notice fail" aria-label="The cause">
      <strong>{shown(message)}</strong>
      <FieldList
        fields={{
          ...(source && { Request: shown(source) }),
          ...(at !== undefined && { Place: <SourceLink at={at} /> }),
          ...(fix && { Fix: shown(fix) }),
        }}
      />
      {lines.length > 0 && (
        <details>
          <summary>Log of this call</summary>
          <Text text={lines.join('\n')} />
        </details>
      )}
    </section>
  );
}
