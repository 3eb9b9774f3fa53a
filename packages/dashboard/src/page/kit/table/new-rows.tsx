import { useEffect } from 'react'
import { counted } from '../../../model/time.ts'
import type { Following } from '../../data/following.ts'

/** A list follows while its first row is in sight. */
export function useTopWatch(
  frame: HTMLElement | null,
  following: Following | undefined,
  rowHeight: number,
): void {
  const setTop = following?.setTop
  useEffect(() => {
    if (frame === null || setTop === undefined) return
    const look = () => setTop(frame.scrollTop < rowHeight)
    look()
    frame.addEventListener('scroll', look, { passive: true })
    return () => frame.removeEventListener('scroll', look)
  }, [frame, setTop, rowHeight])
}

type NewRowsProps = {
  following: Following | undefined
  frame: HTMLElement | null
  noun?: string
}

/** What came meanwhile: it moves nothing that somebody reads before they ask for it. */
export function NewRows({ following, frame, noun = 'new line' }: NewRowsProps) {
  if (following === undefined || following.waiting === 0) return null
  const show = () => {
    following.show()
    frame?.scrollTo({ top: 0 })
  }
  return (
    <button type="button" className="new-rows" onClick={show}>
      {counted(following.waiting, noun)}
    </button>
  )
}
