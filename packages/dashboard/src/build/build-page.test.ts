import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { renderPage } from './build-page.ts'

const page = await renderPage()

it('[H-PUB-9] is one document of one style and one script, with nothing from elsewhere', () => {
  expect(page.match(/<style[ >]/g)).toHaveLength(1)
  expect(page.match(/<\/style/g)).toHaveLength(1)
  expect(page.match(/<\/script/g)).toHaveLength(1)
  const head = page.slice(0, page.indexOf('<style>'))
  expect(head).not.toMatch(/(?:src|href)="(?!data:)/)
  const style = page.slice(page.indexOf('<style>'), page.indexOf('</style>'))
  expect(/@import|url\((?!["']?data:)/.exec(style)).toBeNull()
})

it('[H-PUB-9] is the same whenever it is built', async () => {
  expect((await renderPage()) === page).toBe(true)
})

it('is at most 260 kB with gzip', () => {
  const bytes = gzipSync(page, { level: 9 }).length
  process.stdout.write(`the dashboard is ${Math.round(bytes / 1000)} kB with gzip\n`)
  expect(bytes).toBeLessThanOrEqual(260_000)
})
