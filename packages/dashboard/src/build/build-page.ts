import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'

const packages = join(import.meta.dirname, '../../..')
const own = join(packages, 'dashboard')
const builtPage = join(own, 'dist/dashboard.html')
/** Says of which sources the page was made. */
const stampFile = join(own, 'dist/dashboard.stamp')

/** All that the page is made of; what the lockfile pins stands for everything else. */
const sources = ['dashboard/src', 'client/src', 'contract/src', '../package-lock.json']

/**
 * Builds the page of the dashboard, unless it was made of just these sources already. The same
 * sources make the same bytes.
 *
 * @returns whether it was built, and how long the page is, in bytes
 */
export async function buildDashboard(options: { always?: boolean } = {}) {
  const stamp = await digestOfSources()
  if (!options.always && (await readFile(stampFile, 'utf8').catch(() => '')) === stamp) {
    return { built: false, bytes: (await readFile(builtPage)).length }
  }
  const page = await renderPage()
  await mkdir(join(own, 'dist'), { recursive: true })
  const { br, gz } = await compress(page)
  await replaceFile(`${builtPage}.br`, br)
  await replaceFile(`${builtPage}.gz`, gz)
  await replaceFile(builtPage, page)
  await replaceFile(stampFile, stamp)
  return { built: true, bytes: Buffer.byteLength(page) }
}

/** Once for all requests of all nodes that serve this build. */
async function compress(page: string): Promise<{ br: Buffer; gz: Buffer }> {
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 9, [zlib.BROTLI_PARAM_SIZE_HINT]: page.length }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(page, { params }),
    promisify(gzip)(page, { level: 9 }),
  ])
  return { br, gz }
}

/** The whole document: one style, one script, and nothing from elsewhere. */
export async function renderPage(): Promise<string> {
  // Loaded only here: a start that has nothing to build does not wait for it.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [join(own, 'src/page/main.tsx')],
    bundle: true,
    write: false,
    outdir: join(own, 'dist'),
    absWorkingDir: packages,
    format: 'esm',
    target: ['es2023', 'chrome123', 'firefox128', 'safari17.5'],
    alias: { zod: join(import.meta.dirname, 'no-schemas.ts') },
    jsx: 'automatic',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  })
  const textOf = (ending: string) => {
    return outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ''
  }
  // Either would end the element that it stands in.
  const script = textOf('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
  const style = textOf('.css').replaceAll('</style', '<\\/style')
  return document(style, script)
}

function document(style: string, script: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Guildhall</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>${style}</style>
</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript.</noscript>
<script type="module">${script}</script>
</body>
</html>
`
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
  '<rect width="32" height="32" rx="7" fill="#2b4d8f"/>' +
  '<path d="M7 24V13l9-6 9 6v11h-6v-6a3 3 0 0 0-6 0v6z" fill="#fff"/></svg>'

async function digestOfSources(): Promise<string> {
  const names: string[] = []
  for (const source of sources) names.push(...(await filesOf(join(packages, source))))
  const parts = names.toSorted().map(async (name) => {
    const digest = hash('sha256', await readFile(name))
    return `${relative(packages, name)} ${digest}`
  })
  return hash('sha256', (await Promise.all(parts)).join('\n'))
}

async function filesOf(path: string): Promise<string[]> {
  if (path.endsWith('.json')) return [path]
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && !/\.(?:test|types\.test)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Nobody ever reads half a file, and two that build at a time do no harm. */
async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, content)
  await rename(temporary, path)
}
