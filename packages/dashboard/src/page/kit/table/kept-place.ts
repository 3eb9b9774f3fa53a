import { useLayoutEffect, useRef } from 'react'
import { useHistoryEntry } from '../../data/location.ts'

/** How far the lists of this tab were scrolled, in pixels; the oldest go first. */
const places = new Map<string, number>()
const placesMax = 100

/** A list begins at its top, and is where it was left when its entry of the history comes back. */
export function useKeptPlace(frame: HTMLElement | null, asked: string): void {
  const entry = useHistoryEntry()
  const current = useRef(entry)
  current.current = entry
  useLayoutEffect(() => {
    if (frame === null) return
    frame.scrollTop = places.get(`${current.current} ${asked}`) ?? 0
    const keep = () => {
      // A list that is not drawn has no place of its own.
      if (frame.clientHeight > 0) keepPlace(`${current.current} ${asked}`, frame.scrollTop)
    }
    frame.addEventListener('scroll', keep, { passive: true })
    return () => frame.removeEventListener('scroll', keep)
  }, [frame, asked])
}

function keepPlace(key: string, top: number): void {
  places.delete(key)
  places.set(key, top)
  for (const oldest of places.keys()) {
    if (places.size <= placesMax) break
    places.delete(oldest)
  }
}
