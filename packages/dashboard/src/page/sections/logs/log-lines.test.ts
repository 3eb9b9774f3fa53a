import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { matchNamesKey } from '../../data/match-names.ts'
import { MatchName } from './log-lines.tsx'

it('the name that players gave a match is only ever text', () => {
  const client = new QueryClient()
  client.setQueryData(matchNamesKey, new Map([['mt1-1234', 'a\u202eb …1234']]))
  const name = createElement(MatchName, { id: 'mt1-1234' })
  const drawn = renderToStaticMarkup(createElement(QueryClientProvider, { client }, name))
  expect(drawn).toContain('<bdi>a<span class="odd-letter"')
})
