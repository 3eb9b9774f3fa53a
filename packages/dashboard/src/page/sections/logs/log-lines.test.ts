import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'
import { MatchLink } from './log-lines.tsx'

vi.mock('@tanstack/react-router', () => ({ Link: 'a' }))
vi.mock('../../data/match-names.ts', () => ({ useMatchName: () => 'a\u202eb …1234' }))

it('the name that players gave a match is only ever text', () => {
  const drawn = renderToStaticMarkup(createElement(MatchLink, { id: 'mt1-1234' }))
  expect(drawn).toContain('<bdi>a<span class="odd-letter"')
})
