export type Tone = 'ok' | 'warn' | 'bad' | 'accent' | 'none'

export function Badge({ tone = 'none', children }: { tone?: Tone; children: string }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  )
}
