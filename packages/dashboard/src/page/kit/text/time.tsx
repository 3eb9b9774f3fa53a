import { useSyncExternalStore } from 'react'
import { exactTime, localTime, relativeTime } from '../../../model/time.ts'
import { useDisplay } from '../../data/display.ts'
import { serverNow } from '../../data/node-status.ts'
import { None } from './text.tsx'

/** All times of a page move on together, and seldom. */
const everyMs = 10_000
let beat = 0
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    beat += 1
    for (const each of listeners) each()
  }, everyMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** How long ago, or how soon, by the clock of the server; the exact moment on hover. */
export function Time({ at }: { at: number | null | undefined }) {
  useSyncExternalStore(subscribe, () => beat)
  if (at === null || at === undefined) return <None>never</None>
  const exact = exactTime(at)
  return (
    <time dateTime={exact} title={`${exact}\n${localTime(at)}`}>
      {relativeTime(at, serverNow())}
    </time>
  )
}

/** The exact moment by the clock that was chosen, and how far it is. */
export function ExactTime({ at }: { at: number | null | undefined }) {
  const zone = useDisplay('zone')
  if (at === null || at === undefined) return <None>never</None>
  return (
    <span>
      <span className="mono">{exactTime(at, zone).replace('T', ' ')}</span>{' '}
      <span className="muted">
        (<Time at={at} />)
      </span>
    </span>
  )
}
