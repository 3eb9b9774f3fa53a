import { useNavigate, useParams, useRouterState, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** A part of the path, decoded; undefined on pages that have none of that name. */
export function usePathPart(name: string): string | undefined {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false })
  return params[name]
}

/** The entry of the browser's history that is shown: a like address may be another entry. */
export function useHistoryEntry(): string {
  return useRouterState({ select: ({ location }) => location.state.__TSR_key ?? '' })
}

/** For links and navigation: the filters stay when a row is opened or closed. */
export const keepQuery = (query: Record<string, unknown>) => query

/**
 * A member of the query: filters and tabs stand there, so that a link leads to the same view. What
 * opens a pane is pushed, so that back closes it.
 */
export function useQueryPart(
  name: string,
  { pushes = false } = {},
): [string, (value: string) => void] {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = useCallback(
    (value: string) => {
      const search = (before: Record<string, unknown>) => ({
        ...before,
        [name]: value || undefined,
      })
      // The members of a query are the page's own; the router knows of none.
      void navigate({ to: '.', search: search as never, replace: !pushes })
    },
    [name, navigate, pushes],
  )
  const value = search[name]
  return [typeof value === 'string' ? value : '', set]
}

/** All members are texts, as they stand in the address. */
export function readQuery(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query))
}

export function writeQuery(search: Record<string, unknown>): string {
  const members = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(members.map(([name, value]) => [name, String(value)]))
  return query.size === 0 ? '' : `?${query}`
}
