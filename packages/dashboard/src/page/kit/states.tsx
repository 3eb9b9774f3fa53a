import type { ReactNode } from 'react'
import { ErrorNote, ErrorState, isMissing } from './error-state.tsx'

export function Empty({ title, children }: { title?: string; children?: ReactNode }) {
  return (
    <div className="state">
      {title && <h2>{title}</h2>}
      {children && <p>{children}</p>}
    </div>
  )
}

const widths = ['62%', '48%', '70%', '55%', '40%', '66%']

/** What is being read will stand here; nothing moves meanwhile. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className="stack" aria-busy="true">
      <span className="unseen">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same.
        <div key={line} className="skeleton" style={{ width: widths[line % widths.length] }} />
      ))}
    </div>
  )
}

type Loaded<T> = { data: T | undefined; error: Error | null; refetch(): unknown }

/** What was read, or what came in its place. What is gone stays in sight, as somebody may type. */
export function Await<T>({
  query,
  children,
}: {
  query: Loaded<T>
  children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = query
  if (data !== undefined) {
    return (
      <>
        {isMissing(error) && <ErrorNote error={error} />}
        {children(data)}
      </>
    )
  }
  if (error !== null) return <ErrorState error={error} again={() => void refetch()} />
  return <Skeleton />
}
