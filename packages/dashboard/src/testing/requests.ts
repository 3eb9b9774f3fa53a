import type { Page, Request } from 'playwright-core'
import { expect } from 'vitest'

/** What the page asks the node for, one reading of a clock after the other. */
export function requestsOf(page: Page) {
  let paths: string[] = []
  const open = new Set<Request>()
  page.on('request', (request) => {
    paths.push(new URL(request.url()).pathname)
    open.add(request)
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return {
    paths: () => paths,
    forget() {
      paths = []
    },
    answered: () => expect.poll(() => open.size, { interval: 5 }).toBe(0),
  }
}
