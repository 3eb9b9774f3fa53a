import type { TextareaHTMLAttributes } from 'react'
import { jsonPages } from '../../../model/json.ts'
import { bytesText, counted } from '../../../model/time.ts'
import { readJsonObject } from './field-kinds.ts'

type JsonAreaProps = TextareaHTMLAttributes<HTMLTextAreaElement> & {
  value: string
  onText(text: string): void
}

/** A place to write a JSON object; it says where it is broken, and formats it on request. */
export function JsonArea({ onText, value, ...attributes }: JsonAreaProps) {
  const read = readJsonObject(value)
  return (
    <div className="stack-tight">
      <textarea className="code" {...attributes} value={value} spellCheck={false} />
      <div className="row small">
        <span className="muted" aria-live="polite">
          {'complaint' in read ? read.complaint : `${counted(value.split('\n').length, 'line')}, `}
          {'value' in read && bytesText(new Blob([value]).size)}
        </span>
        <span className="grow" />
        <button
          type="button"
          className="tiny"
          disabled={'complaint' in read}
          onClick={() => 'value' in read && onText(jsonPages(read.value))}
        >
          Format
        </button>
      </div>
    </div>
  )
}
