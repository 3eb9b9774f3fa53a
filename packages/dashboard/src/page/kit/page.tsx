import { type ReactNode, useEffect, useRef } from 'react'
import { Glyph } from './glyph.tsx'

type PageProps = { title: string; head?: ReactNode; actions?: ReactNode; children: ReactNode }

/** A view: its heading takes the focus when somebody comes to it. */
export function Page({ title, head, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} - Guildhall`
  }, [title])
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus()
  }, [])
  return (
    <div className="page">
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1} className="break">
          {head ?? title}
        </h1>
        {actions}
      </header>
      {children}
    </div>
  )
}

type NewButtonProps = { onNew(): void; children: string }

/** In the head of a page: opens the form of something new. */
export function NewButton({ onNew, children }: NewButtonProps) {
  return (
    <button type="button" className="primary" onClick={onNew}>
      {children}
    </button>
  )
}

type SplitProps = { list: ReactNode; pane: ReactNode | undefined }

/** A list and, when one of it is open, a pane beside it. */
export function Split({ list, pane }: SplitProps) {
  return (
    <div className="split" data-open={pane !== undefined}>
      <div className="split-list">{list}</div>
      {pane}
    </div>
  )
}

type PaneProps = {
  title: ReactNode
  label: string
  actions?: ReactNode
  onClose(): void
  children: ReactNode
}

export function Pane({ title, label, actions, onClose, children }: PaneProps) {
  const pane = useRef<HTMLElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || hasItsOwnEscape(event.target)) return
      if (pane.current?.contains(document.activeElement)) focusOpenRow()
      close.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <aside ref={pane} className="pane" aria-label={label}>
      <div className="pane-head">
        <h2 className="break">{title}</h2>
        {actions && <div className="pane-actions">{actions}</div>}
        <button type="button" className="quiet icon" onClick={onClose}>
          <Glyph name="cross" />
          <span className="unseen">Close the pane</span>
        </button>
      </div>
      <div className="pane-body">{children}</div>
    </aside>
  )
}

/** Escape clears a filter, and closes a dialog or a menu. */
function hasItsOwnEscape(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open], [popover]:popover-open:not(.toasts)')) return true
  return target instanceof HTMLInputElement && target.type === 'search' && target.value !== ''
}

/** The focus goes back to the row whose pane closes. */
function focusOpenRow(): void {
  const rows = document.querySelectorAll<HTMLElement>('.split-list [data-row]')
  const open = [...rows].find((row) => row.getAttribute('aria-selected') === 'true')
  const row = open ?? [...rows].find(({ tabIndex }) => tabIndex === 0)
  row?.focus()
}

export function Card({
  title,
  extra,
  children,
}: {
  title: string
  extra?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
        {extra}
      </div>
      <div className="card-body">{children}</div>
    </section>
  )
}

/** Names and values. */
export function Facts({ rows }: { rows: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="facts">
      {Object.entries(rows).map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The same beside each other, as many as there is room for. */
export function FactStrip({ rows }: { rows: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="fact-strip">
      {Object.entries(rows).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
