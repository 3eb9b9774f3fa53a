import { GuildhallError } from '@guildhall/client/console'
import { useEffect, useState } from 'react'
import { Glyph } from './glyph.tsx'

type Words = { title: string; text: string }

/** What a failure means for the one who looks at it. */
function wordsOf(error: Error): Words {
  if (!(error instanceof GuildhallError) || error.status === undefined) {
    return {
      title: 'The node does not answer',
      text: 'It may be starting again, or the connection is gone.',
    }
  }
  switch (error.status) {
    case 400:
      return { title: 'The request was refused', text: error.message }
    case 401:
      return { title: 'Your session has ended', text: 'Sign in again to go on.' }
    case 403:
      return { title: 'Not allowed', text: 'Your role does not allow this.' }
    case 404:
      return { title: 'Not found', text: 'It does not exist, or not any more.' }
    case 409:
      return { title: 'In conflict with what is stored', text: error.message }
    case 429:
      return { title: 'Too many requests', text: 'The node asks to wait.' }
    case 501:
      return { title: 'Not available here', text: 'This node does not offer it.' }
    case 503:
      return { title: 'Not available now', text: error.message }
    case 504:
      return { title: 'It took too long', text: 'Ask for less, for instance with a filter.' }
    default:
      return {
        title: `The node failed (${error.status})`,
        text: 'The cause is in its log and in the error journal.',
      }
  }
}

/** Nothing of this kind is there, or not any more. */
export function isMissing(error: unknown): boolean {
  return error instanceof GuildhallError && error.status === 404
}

/** In place of what could not be read. */
export function ErrorState({ error, again }: { error: Error; again?: () => void }) {
  const { title, text } = wordsOf(error)
  const waitSec = useCountdown(error)
  return (
    <div className="state" role="alert">
      <Glyph name="alert" />
      <h2>{title}</h2>
      <p>{text}</p>
      {again && (
        <button type="button" onClick={again} disabled={waitSec > 0}>
          {waitSec > 0 ? `Try again in ${waitSec} s` : 'Try again'}
        </button>
      )}
    </div>
  )
}

/** Beside a form or a button whose change was refused. */
export function ErrorNote({ error }: { error: Error | null }) {
  const waitSec = useCountdown(error)
  if (error === null) return null
  const { title, text } = wordsOf(error)
  return (
    <div className="problem-box" role="alert">
      <Glyph name="alert" />
      <span>
        <strong>{title}.</strong> {text}
        {waitSec > 0 && ` ${waitSec} s are left.`}
      </span>
    </div>
  )
}

/** Whole seconds of a Retry-After that are left. */
function useCountdown(error: Error | null): number {
  const retryAfterSec = error instanceof GuildhallError ? (error.retryAfterSec ?? 0) : 0
  const [leftSec, setLeftSec] = useState(retryAfterSec)
  useEffect(() => {
    setLeftSec(retryAfterSec)
    if (retryAfterSec === 0) return
    const timer = setInterval(() => setLeftSec((left) => Math.max(0, left - 1)), 1_000)
    return () => clearInterval(timer)
  }, [retryAfterSec])
  return leftSec
}
