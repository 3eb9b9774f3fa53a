import { type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react'
import { Glyph } from '../glyph.tsx'
import { Text } from '../text/text.tsx'

type DialogProps = {
  title: string
  onClose(): void
  children: ReactNode
  /** What stands in the middle is long. */
  wide?: boolean
  /** Something typed would be lost: closing asks first. */
  dirty?: boolean
}

/** Opens a dialog over the page as long as it is in it, with the focus where typing begins. */
export function useModal(first = 'input, textarea, select'): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const shown = dialog.current
    if (shown !== null && !shown.open) {
      shown.showModal()
      shown.querySelector<HTMLElement>(first)?.focus()
    }
    // While it is still in the page, so that the focus goes back to where it came from.
    return () => shown?.close()
  }, [first])
  return dialog
}

/** A modal dialog: the browser keeps the focus inside and gives it back afterwards. */
export function Dialog({ title, onClose, children, wide = false, dirty = false }: DialogProps) {
  const dialog = useModal()
  const [asked, setAsked] = useState(false)
  const heading = useId()
  const close = () => {
    if (dirty && !asked) setAsked(true)
    else onClose()
  }
  return (
    <dialog
      ref={dialog}
      className={wide ? 'wide' : ''}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      <div className="dialog-head">
        <h2 id={heading} className="break">
          <Text>{title}</Text>
        </h2>
        <button type="button" className="quiet icon" onClick={close}>
          <Glyph name="cross" />
          <span className="unseen">Close</span>
        </button>
      </div>
      {asked && (
        <div className="dialog-head note-box" data-tone="warn" role="alert">
          <span className="grow">Discard what you have typed?</span>
          <button type="button" onClick={() => setAsked(false)}>
            Keep it
          </button>
          <button type="button" className="danger" onClick={onClose}>
            Discard
          </button>
        </div>
      )}
      {children}
    </dialog>
  )
}
