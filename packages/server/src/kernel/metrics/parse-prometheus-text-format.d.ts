declare module 'parse-prometheus-text-format' {
  export type ParsedFamily = {
    name: string
    help: string
    type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED'
    metrics: {
      labels?: Record<string, string>
      value?: string
      buckets?: Record<string, string>
      count?: string
      sum?: string
    }[]
  }
  function parse(text: string): ParsedFamily[]
  // biome-ignore lint/style/noDefaultExport: that is how the package exports it.
  export default parse
}
