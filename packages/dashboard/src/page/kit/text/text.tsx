import { textParts } from '../../../model/text.ts'

/** A text that somebody else wrote: only ever text, and it turns nothing but itself. */
export function Text({ children }: { children: string }) {
  const parts = textParts(children)
  return (
    <bdi>
      {parts.map(({ kind, text }, index) =>
        kind === 'plain' ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no names.
          <span key={index} className="odd-letter" title="A letter that is not seen">
            {text}
          </span>
        ),
      )}
    </bdi>
  )
}

/** What is not there. */
export function None({ children = 'none' }: { children?: string }) {
  return <span className="muted">{children}</span>
}
