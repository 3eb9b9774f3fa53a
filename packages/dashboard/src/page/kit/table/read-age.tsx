import { useEffect, useState } from 'react'
import { Glyph } from '../glyph.tsx'

const everyMs = 1_000

type AgeProps = { readAtMs: number; again(): void }

/** How old a list is, and what reads it anew. */
export function ReadAge({ readAtMs, again }: AgeProps) {
  const [nowMs, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((nowMs - readAtMs) / 1000))
  const words = seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`
  return (
    <button type="button" className="quiet tiny" onClick={again} title="Read again">
      <Glyph name="repeat" />
      <span>read {words} ago</span>
    </button>
  )
}
