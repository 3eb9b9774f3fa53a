import { useState } from 'react'
import { jsonPages } from '../../../model/json.ts'
import { bytesText } from '../../../model/time.ts'
import { CopyButton } from './copy.tsx'
import { LinkedText, NamedWords } from './links.tsx'

/** So many members are shown at a time. */
const stepSize = 200
/** A longer text is shown by its beginning; copying takes all of it. */
const textMax = 2_000

/** JSON as a tree. What is folded is not in the page, so that a megabyte costs nothing. */
export function JsonView({ value, label = 'JSON' }: { value: unknown; label?: string }) {
  const text = jsonPages(value)
  return (
    <section className="stack-tight" aria-label={label}>
      <div className="row small muted">
        <span className="grow">
          {label}, {bytesText(new Blob([text]).size)}
        </span>
        <CopyButton text={text} what={label} />
      </div>
      <div className="json">
        <Node value={value} isOpen={true} />
      </div>
    </section>
  )
}

type NodeProps = { name?: string; value: unknown; isOpen?: boolean }

function Node({ name, value, isOpen = false }: NodeProps) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="leaf">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch name={name} value={value} isOpen={isOpen} />
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return (
    <>
      <span className="name">
        <NamedWords>{name}</NamedWords>
      </span>
      {': '}
    </>
  )
}

type BranchProps = { name: string | undefined; value: object; isOpen: boolean }

function Branch({ name, value, isOpen }: BranchProps) {
  const entries = Object.entries(value)
  const [open, setOpen] = useState(isOpen || entries.length <= 3)
  const [shown, setShown] = useState(stepSize)
  const words = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  if (entries.length === 0) {
    return (
      <div className="leaf">
        <Name name={name} />
        <span className="muted">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    )
  }
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className="muted">{words}</span>
      </summary>
      {open && (
        <div>
          {entries.slice(0, shown).map(([key, member]) => (
            <Node key={key} name={key} value={member} />
          ))}
          {entries.length > shown && (
            <button type="button" className="link" onClick={() => setShown(shown + 5 * stepSize)}>
              {entries.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value !== 'string') {
    return <span className="other">{typeof value === 'bigint' ? String(value) : `${value}`}</span>
  }
  const isLong = value.length > textMax
  return (
    <span className="text">
      "<LinkedText>{isLong ? value.slice(0, textMax) : value || ' '}</LinkedText>"
      {isLong && <span className="muted"> and {value.length - textMax} more letters</span>}
    </span>
  )
}
