import { useRef } from 'react'
import { type Restful, restsAfterMs } from './pace.ts'

/**
 * Decides at each reading when the next one is due, by whether this part of the data has changed
 * lately. What is read again and says the same is the same object.
 */
export function useRestful<T>(
  { changingMs, restingMs }: Restful,
  partOf: (data: T) => unknown,
): (data: T | undefined) => number {
  const seen = useRef<{ part: unknown; atMs: number }>(undefined)
  return (data) => {
    const part = data === undefined ? undefined : partOf(data)
    if (seen.current === undefined || seen.current.part !== part) {
      seen.current = { part, atMs: Date.now() }
    }
    return Date.now() - seen.current.atMs < restsAfterMs ? changingMs : restingMs
  }
}
