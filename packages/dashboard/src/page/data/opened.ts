import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { keepQuery, usePathPart, useQueryPart } from './location.ts'

/** Which row of a list is shown beside it. */
export type Opened = {
  key: string | undefined
  open(key: string): void
  close(): void
}

/** The row stands in the path behind its section, e.g. `/groups/7`; filters stay. */
export function useOpenedPath(section: string, part = 'id'): Opened {
  const navigate = useNavigate()
  const key = usePathPart(part)
  return {
    key,
    open: (key) =>
      void navigate({ to: `${section}/$${part}`, params: { [part]: key }, search: keepQuery }),
    close: () => void navigate({ to: section, search: keepQuery }),
  }
}

/** The row stands in the query. */
export function useOpenedQuery(name: string): Opened {
  const [key, setKey] = useQueryPart(name, { pushes: true })
  return { key: key === '' ? undefined : key, open: setKey, close: () => setKey('') }
}

/** A row that has no address: it is gone with the view. */
export function useOpenedHere(): Opened {
  const [key, setKey] = useState<string>()
  return { key, open: setKey, close: () => setKey(undefined) }
}
