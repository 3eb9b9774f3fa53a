import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import { dashboardDocuments } from './dashboard.ts'

const folder = mkdtempSync(join(tmpdir(), 'guildhall-page-'))
const file = join(folder, 'dashboard.html')
const style = 'p{color:red}'
const script = 'start("<b>")'
const page = `<head><style>${style}</style></head><body><script type="module">${script}</script></body>`

afterAll(() => rmSync(folder, { recursive: true }))

function documents() {
  writeFileSync(file, page)
  writeFileSync(`${file}.br`, brotliCompressSync(page))
  writeFileSync(`${file}.gz`, gzipSync(page))
  return dashboardDocuments(createRecordedLog(), file)
}

it('[H-PUB-9] is served at its path and all paths below, with the same bytes', () => {
  expect(documents().map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /dashboard',
    'GET /dashboard/{*}',
  ])
  for (const { render, contentType } of documents()) {
    expect(render().content).toBe(page)
    expect(contentType).toBe('text/html; charset=utf-8')
  }
})

it('[H-PUB-9] comes compressed from the build, so that no request waits for it', () => {
  for (const { render } of documents()) {
    const { br, gzip } = render().compressed ?? {}
    expect(br && brotliDecompressSync(br).toString()).toBe(page)
    expect(gzip && gunzipSync(gzip).toString()).toBe(page)
  }
})

it('[H-PUB-9] allows exactly its one script and its one style', () => {
  const [first] = documents()
  const source = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`
  expect(first?.render().headers).toEqual({
    'content-security-policy':
      `default-src 'none'; script-src ${source(script)}; style-src ${source(style)}; ` +
      "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
      "frame-ancestors 'none'",
  })
})

it('[H-PUB-9] refuses a page with a second script, which no policy would allow', () => {
  const [first] = documents()
  writeFileSync(file, `${page}<script>more()</script>`)
  expect(() => first?.render()).toThrow('2 elements script')
})

it('[H-PUB-9] leaves a node without a built page as it is, and says so', () => {
  const log = createRecordedLog()
  expect(dashboardDocuments(log, join(folder, 'missing.html'))).toEqual([])
  expect(log.lines.map(({ message }) => message)).toEqual([
    'the dashboard is not built, so it is not served',
  ])
})
