import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('./page', import.meta.url))

/**
 * Serves the page of the arena. It belongs to the game and not to the node: any web server would
 * do.
 *
 * @param port 0 takes a free one
 */
export async function servePage(port: number): Promise<{ url: string; close(): Promise<void> }> {
  const files = await filesOfThePage()
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const file = files.get(path)
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': file.type, 'cache-control': 'no-store' })
    response.end(file.content)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}`,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A browser holds a connection open for requests that may never come.
      server.closeAllConnections()
      return closed
    },
  }
}

type File = { type: string; content: string }

async function filesOfThePage(): Promise<Map<string, File>> {
  const { outputFiles } = await build({
    entryPoints: [`${folder}/main.ts`],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const html = await readFile(`${folder}/index.html`, 'utf8')
  const css = await readFile(`${folder}/style.css`, 'utf8')
  return new Map([
    ['/', { type: 'text/html; charset=utf-8', content: html }],
    ['/style.css', { type: 'text/css', content: css }],
    ['/main.js', { type: 'text/javascript', content: outputFiles[0]?.text ?? '' }],
  ])
}

if (import.meta.main) {
  const { url } = await servePage(8080)
  process.stdout.write(`the arena is at ${url}\n`)
}
