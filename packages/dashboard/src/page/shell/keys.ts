import { useEffect, useRef } from 'react'

/** Keys of the whole page: `k` with Control or Command, `?`, and `/` for the filter of the view. */
type Keys = { k(): void; '?'(): void }

export function useKeys(keys: Keys, isOn: boolean): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    if (!isOn) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        current.current.k()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('dialog[open]') !== null) return
      if (event.key === '?') current.current['?']()
      const filter = document.querySelector<HTMLInputElement>('[data-main-filter]')
      if (event.key === '/' && filter !== null) {
        event.preventDefault()
        filter.focus()
        filter.select()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null
}
