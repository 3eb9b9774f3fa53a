import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { api } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { renderPages } from './pages.ts'

const pages = renderPages()

describe('the generated pages', () => {
  it.each(Object.entries(pages))(
    '[H-PUB-8] docs/%s is current: otherwise run `npm run docs`',
    (file, content) => {
      const committed = readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8')
      // Not compared as texts: their difference would be thousands of lines.
      expect(committed === content).toBe(true)
    },
  )

  it('[H-PUB-8] have every route, and links that lead to it', () => {
    const page = pages['api.md'] ?? ''
    for (const { method, path } of Object.values(api).flatMap((routes) => Object.values(routes))) {
      const heading = `### ${method} ${path}\n`
      const anchor = heading
        .slice(4)
        .toLowerCase()
        .replace(/[^a-z0-9 _-]/g, '')
        .replaceAll(' ', '-')
      expect(page).toContain(heading)
      expect(page).toContain(`[${method} ${path}](#${anchor})`)
    }
  })

  it('[H-PUB-8] show the bounds of fields', () => {
    const page = pages['api.md'] ?? ''
    expect(page).toContain('| `limit` | query | integer, optional | 1..500; default 100 |')
    expect(page).toContain('| `password` | string | must be 8..1024 bytes')
    expect(page).toContain('| `entries[].actor` | string |')
    expect(page).not.toMatch(/undefined|\[object/)
  })
})
