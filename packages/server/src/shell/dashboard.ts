import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Compressed, Document, Rendered } from '../kernel/http/documents.ts'
import type { Log } from '../kernel/log/log.ts'

/** Made by the package `dashboard`, during the installation and before each start by npm. */
const builtPage = fileURLToPath(import.meta.resolve('@guildhall/dashboard/page'))

/**
 * The operator console: one page at `/dashboard` and at every path below it, which the page itself
 * reads. It holds no data, so that it needs no credential.
 */
export function dashboardDocuments(log: Log, file = builtPage): Document[] {
  if (![file, `${file}.br`, `${file}.gz`].every((one) => existsSync(one))) {
    log.warn('the dashboard is not built, so it is not served', { build: 'npm run build' })
    return []
  }
  return (['/dashboard', '/dashboard/{*}'] as const).map((path) => ({
    method: 'GET',
    path,
    contentType: 'text/html; charset=utf-8',
    render: () => withPolicy(readFileSync(file, 'utf8'), compressedPage(file)),
  }))
}

/** The build compresses the page, so that no request waits for it. */
function compressedPage(file: string): Compressed {
  return { br: readFileSync(`${file}.br`), gzip: readFileSync(`${file}.gz`) }
}

/** Allows exactly the one script and the one style of the page. */
function withPolicy(content: string, compressed: Compressed): Rendered {
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(content, 'script')}`,
    `style-src ${sourceOf(content, 'style')}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return { content, compressed, headers: { 'content-security-policy': policy.join('; ') } }
}

function sourceOf(page: string, element: 'script' | 'style'): string {
  const blocks = [...page.matchAll(new RegExp(`<${element}(?: [^>]*)?>(.*?)</${element}>`, 'gs'))]
  if (blocks.length !== 1) throw new Error(`the page has ${blocks.length} elements ${element}`)
  return `'sha256-${hash('sha256', blocks[0]?.[1] ?? '', 'base64')}'`
}
