import { useEffect, useRef, useState } from 'react'
import { inputTime, readInputTime, type Zone } from '../../../model/time.ts'
import { useDisplay } from '../../data/display.ts'
import { ZoneWord } from '../form/field.tsx'

type FilterProps = {
  label: string
  value: string
  onValue(value: string): void
  placeholder?: string
  /** The `/` key comes here. */
  isMain?: boolean
}

const settleMs = 250

/** A text that narrows a list: it takes effect when typing pauses. */
export function FilterInput({ label, value, onValue, placeholder, isMain }: FilterProps) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const send = useRef(onValue)
  send.current = onValue
  useEffect(() => {
    // What was typed since then must not be lost to the echo of what was sent.
    if (value !== sent.current) setText(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      send.current(text)
    }, settleMs)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label className="filter">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={placeholder}
        data-main-filter={isMain ? '' : undefined}
        spellCheck={false}
        onChange={({ target }) => setText(target.value)}
      />
    </label>
  )
}

type TimeProps = { label: string; value: string; onValue(value: string): void }

/** A moment in Unix milliseconds, as it stands in the address; empty is any. */
export function FilterTime({ label, value, onValue }: TimeProps) {
  const zone = useDisplay('zone')
  return (
    <label className="filter">
      <span>
        {label}
        <ZoneWord />
      </span>
      <input
        type="datetime-local"
        value={inputTimeOf(value, zone)}
        onChange={({ target }) => onValue(String(readInputTime(target.value, zone) ?? ''))}
      />
    </label>
  )
}

function inputTimeOf(value: string, zone: Zone): string {
  const unixMs = timeOf(value)
  return unixMs === undefined ? '' : inputTime(unixMs, zone).slice(0, 16)
}

/** A time of the address; anything else is none. */
export function timeOf(value: string): number | undefined {
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

type ChoiceProps = {
  label: string
  value: string
  /** The empty choice stands for all. */
  choices: readonly string[]
  all?: string
  onValue(value: string): void
}

export function FilterChoice({ label, value, choices, all = 'all', onValue }: ChoiceProps) {
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onValue(target.value)}>
        <option value="">{all}</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  )
}
