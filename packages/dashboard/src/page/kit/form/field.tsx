import { type ReactNode, useId } from 'react'
import { useDisplay } from '../../data/display.ts'
import { AccountInput } from './account-input.tsx'
import type { FieldKind } from './field-kinds.ts'
import { JsonArea } from './json-area.tsx'

type FieldProps = {
  name: string
  kind: FieldKind<unknown>
  text: string
  complaint: string | undefined
  onText(text: string): void
}

/** A labelled control with its hint and what is wrong with it. */
export function Field({ name, kind, text, complaint, onText }: FieldProps) {
  const id = useId()
  const { label, hint, control } = kind
  const described = [hint && `${id}-hint`, complaint && `${id}-problem`].filter(Boolean).join(' ')
  const attributes: Attributes = {
    id,
    name,
    'aria-describedby': described || undefined,
    'aria-invalid': complaint === undefined ? undefined : true,
  }
  const notes = <Notes id={id} hint={hint} complaint={complaint} />
  if (control === 'check') {
    return (
      <div className="field">
        <div className="field-check">
          <input
            type="checkbox"
            {...attributes}
            checked={text !== ''}
            onChange={({ target }) => onText(target.checked ? 'yes' : '')}
          />
          <label htmlFor={id}>{label}</label>
        </div>
        {notes}
      </div>
    )
  }
  if (control === 'checks') {
    return (
      <fieldset className="field">
        <legend className="label">{label}</legend>
        <Checks kind={kind} text={text} onText={onText} />
        {notes}
      </fieldset>
    )
  }
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {control === 'time' && <ZoneWord />}
      </label>
      <Control kind={kind} text={text} onText={onText} attributes={attributes} />
      {notes}
    </div>
  )
}

/** By which clock a time is typed. */
export function ZoneWord() {
  const zone = useDisplay('zone')
  return <> ({zone === 'UTC' ? zone : 'local time'})</>
}

type Attributes = {
  id: string
  name: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

type ControlProps = Pick<FieldProps, 'kind' | 'text' | 'onText'> & { attributes: Attributes }

function Control({ kind, text, onText, attributes }: ControlProps): ReactNode {
  const common = {
    ...attributes,
    value: text,
    onChange: ({ target }: { target: { value: string } }) => onText(target.value),
  }
  switch (kind.control) {
    case 'area':
      return <textarea {...common} rows={3} />
    case 'account':
      return <AccountInput {...common} />
    case 'json':
      return <JsonArea {...common} rows={10} onText={onText} />
    case 'select':
      return (
        <select {...common}>
          {kind.choices?.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )
    case 'time':
      return <input {...common} type="datetime-local" step={1} />
    case 'number':
      return <input {...common} inputMode="numeric" autoComplete="off" spellCheck={false} />
    default:
      return <input {...common} autoComplete="off" spellCheck={false} />
  }
}

function Checks({ kind, text, onText }: Pick<FieldProps, 'kind' | 'text' | 'onText'>) {
  const chosen = new Set(text.split(' ').filter(Boolean))
  return (
    <div className="checks">
      {kind.choices?.map((choice) => (
        <label key={choice} className="field-check">
          <input
            type="checkbox"
            checked={chosen.has(choice)}
            onChange={() => {
              if (!chosen.delete(choice)) chosen.add(choice)
              onText([...chosen].join(' '))
            }}
          />
          {choice}
        </label>
      ))}
    </div>
  )
}

function Notes(of: { id: string; hint: string | undefined; complaint: string | undefined }) {
  return (
    <>
      {of.hint && (
        <span id={`${of.id}-hint`} className="hint">
          {of.hint}
        </span>
      )}
      {of.complaint && (
        <span id={`${of.id}-problem`} className="problem">
          {of.complaint}
        </span>
      )}
    </>
  )
}
