/** What `read` returns; `otherwise` if it throws, whatever the error. */
export function attempt<T, Otherwise>(read: () => T, otherwise: Otherwise): T | Otherwise {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
