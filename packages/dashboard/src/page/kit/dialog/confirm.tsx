import { type ReactNode, useId, useState } from 'react'
import { isTypable } from '../../../model/text.ts'
import { ErrorNote } from '../error-state.tsx'
import { Dialog } from './dialog.tsx'

type ConfirmProps = {
  title: string
  action: string
  children: ReactNode
  /** Typed before what cannot be undone is pressed; the action, where nobody can type it. */
  typed?: string | undefined
  danger?: boolean
  run(): Promise<unknown>
  onClose(): void
}

/** Asks before something that others will feel. */
export function Confirm({ title, action, children, typed, danger, run, onClose }: ConfirmProps) {
  const [text, setText] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  const word = typed === undefined || isTypable(typed) ? typed : action.toLowerCase()
  const isReady = word === undefined || text === word
  const send = async () => {
    setBusy(true)
    setError(null)
    try {
      await run()
      onClose()
    } catch (refusal) {
      setError(refusal instanceof Error ? refusal : new Error(String(refusal)))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="dialog-body"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !isBusy) void send()
        }}
      >
        <div>{children}</div>
        {word !== undefined && (
          <div className="field">
            <label htmlFor={id}>
              Type <code className="break">{word}</code> to confirm
            </label>
            <input
              id={id}
              value={text}
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => {
                setText(target.value)
                setError(null)
              }}
            />
          </div>
        )}
        <ErrorNote error={error} />
        <div className="row">
          <span className="grow" />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={danger ? 'danger primary' : 'primary'}
            disabled={!isReady || isBusy}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
