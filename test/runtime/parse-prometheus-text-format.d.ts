declare module 'parse-prometheus-text-format' {
  /** Reads the text form of Prometheus. */
  export default function parse(text: string): {
    readonly name: string;
    readonly metrics: { readonly labels?: Readonly<Record<string, string>>; readonly value?: string }[];
  }[];
}
