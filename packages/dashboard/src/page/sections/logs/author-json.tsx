import { parseExact } from '@guildhall/client/console'
import { CopyButton } from '../../kit/text/copy.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { NamedText } from '../../kit/text/links.tsx'

/** JSON as its author wrote it: a tree when it is one, else the text. */
export function AuthorJson({ text, label }: { text: string | undefined; label: string }) {
  if (text === undefined) return null
  const value = parsed(text)
  if (value !== undefined) return <JsonView value={value} label={label} />
  return (
    <section className="stack-tight" aria-label={label}>
      <div className="row small muted">
        <span className="grow">{label}</span>
        <CopyButton text={text} what={label} />
      </div>
      <div className="json break">
        <NamedText>{text}</NamedText>
      </div>
    </section>
  )
}

function parsed(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}
