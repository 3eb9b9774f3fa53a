import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Glyph } from '../kit/glyph.tsx'
import { NamedWords } from '../kit/text/links.tsx'
import { Text } from '../kit/text/text.tsx'
import { useFound } from './palette-found.ts'
import type { Target } from './palette-target.ts'

/** Goes anywhere by typing a part of its name. */
export function Palette({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const found = useFound(text)
  const at = Math.min(chosen, found.length - 1)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  useEffect(() => {
    document.getElementById(`found-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const go = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    const { to, params, search } = target
    // Where it leads was made from the routes; the router's types want literals.
    void navigate({ to, params: params as never, search: (search ?? {}) as never })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') {
      // Else the key would also press what has the focus then.
      event.preventDefault()
      go(found[at])
    }
    if (step === undefined || found.length === 0) return
    event.preventDefault()
    setChosen((at + step + found.length) % found.length)
  }
  return (
    <dialog ref={dialog} className="palette" aria-label="Search" onClose={onClose}>
      <input
        className="palette-input"
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${at}` : undefined}
        aria-label="Search"
        placeholder="Anything by its name or id"
        value={text}
        spellCheck={false}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          setText(target.value)
          setChosen(0)
        }}
      />
      <div id="found" role="listbox" aria-label="Found">
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input.
          <div
            key={target.key}
            id={`found-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(target)}
          >
            <Glyph name={target.glyph} />
            <span className="one-line">
              <Label of={target} />
            </span>
            <span className="kind">{target.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="state">Nothing found</p>}
    </dialog>
  )
}

function Label({ of: { label, namesAccounts } }: { of: Target }) {
  return namesAccounts ? <NamedWords>{label}</NamedWords> : <Text>{label}</Text>
}
