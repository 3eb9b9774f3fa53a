import type { ReadWith } from '../../data/reads.ts'
import { ReadAge } from './read-age.tsx'

/** Above a list that is no table: what it is of, and how old. */
export function ListHead({ title, read }: { title: string; read: ReadWith }) {
  return (
    <div className="row">
      <h3 className="grow">{title}</h3>
      {read.readAtMs > 0 && <ReadAge readAtMs={read.readAtMs} again={() => void read.refetch()} />}
    </div>
  )
}
