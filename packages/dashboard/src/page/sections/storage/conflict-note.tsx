import type { StorageObject } from '@guildhall/contract'
import { diffLines, withContext } from '../../../model/diff.ts'
import { jsonPages } from '../../../model/json.ts'

type ConflictProps = {
  /** What is stored now; null when somebody deleted it. */
  theirs: StorageObject | null
  mine: string
  onOverwrite(): void
  onBack(): void
  onDiscard(): void
}

/** Shows what an overwriting would change, line by line. */
export function ConflictNote({ theirs, mine, onOverwrite, onBack, onDiscard }: ConflictProps) {
  return (
    <section className="form" aria-label="Version conflict">
      <div className="note-box" data-tone="warn" role="alert">
        {theirs === null
          ? 'Somebody deleted this object meanwhile.'
          : 'Somebody changed this object meanwhile. Red is what is stored now, green is yours.'}
      </div>
      {theirs && <Diff before={jsonPages(theirs.value)} after={mine} />}
      <div className="row">
        <button type="button" onClick={onDiscard}>
          {theirs === null ? 'Leave it deleted' : 'Keep theirs'}
        </button>
        <span className="grow" />
        {theirs && (
          <button type="button" onClick={onBack}>
            Back to my text
          </button>
        )}
        <button type="button" className="danger primary" onClick={onOverwrite}>
          {theirs === null ? 'Store mine again' : 'Overwrite with mine'}
        </button>
      </div>
    </section>
  )
}

const signs = { same: ' ', gone: '-', new: '+' } as const

function Diff({ before, after }: { before: string; after: string }) {
  const lines = withContext(diffLines(before, after))
  return (
    <section className="diff" aria-label="Difference">
      {lines.map((line, index) =>
        line === 'left out' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no names.
          <div key={index} className="muted">
            …
          </div>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no names.
          <div key={index} data-kind={line.kind}>
            {signs[line.kind]} {line.text}
          </div>
        ),
      )}
    </section>
  )
}
