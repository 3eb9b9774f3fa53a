import { useState } from 'react'
import { toast } from '../dialog/toasts.tsx'
import { Glyph } from '../glyph.tsx'
import { Text } from './text.tsx'

export function CopyButton({ text, what = 'value' }: { text: string; what?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 1_500)
    } catch {
      toast('The browser does not let this page copy. Select the text instead.', 'bad')
    }
  }
  return (
    <button
      type="button"
      className="quiet tiny icon"
      onClick={(event) => {
        event.stopPropagation()
        void copy()
      }}
    >
      <Glyph name={copied ? 'check' : 'copy'} />
      <span className="unseen">{copied ? 'Copied' : `Copy ${what}`}</span>
    </button>
  )
}

/** An id or another text that is wanted elsewhere. */
export function Copyable({ children, what }: { children: string; what?: string }) {
  return (
    <span className="copyable">
      <code className="one-line" title={children}>
        <Text>{children}</Text>
      </code>
      <CopyButton text={children} {...(what === undefined ? {} : { what })} />
    </span>
  )
}
