import { useEffect, useRef, useSyncExternalStore } from 'react'
import { Glyph } from '../glyph.tsx'

type Toast = { id: number; text: string; tone: 'ok' | 'bad' }

const shownMs = 5_000
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** Says in a corner, and to screen readers, that something is done. Failures stay. */
export function toast(text: string, tone: Toast['tone'] = 'ok'): void {
  lastId += 1
  const id = lastId
  set([...toasts, { id, text, tone }])
  if (tone === 'ok') setTimeout(() => dismiss(id), shownMs)
}

function dismiss(id: number): void {
  set(toasts.filter((one) => one.id !== id))
}

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Opened anew each time: only so it lies above a dialog that was opened meanwhile.
    frame.current?.hidePopover()
    if (shown.length > 0) frame.current?.showPopover()
  }, [shown])
  return (
    <div ref={frame} className="toasts" popover="manual" role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className="toast" data-tone={tone}>
          <span className="grow break">{text}</span>
          <button type="button" className="quiet tiny icon" onClick={() => dismiss(id)}>
            <Glyph name="cross" />
            <span className="unseen">Dismiss</span>
          </button>
        </div>
      ))}
    </div>
  )
}
