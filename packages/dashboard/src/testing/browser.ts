import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'
import { extract } from 'tar-fs'

/**
 * A real Chromium for tests, out of npm packages: `@sparticuz/chromium` on Linux x64, elsewhere an
 * installed Chrome. Tests of a machine that has neither are skipped, with the reason printed.
 */

const root = join(import.meta.dirname, '../../../..')
const cache = join(root, 'node_modules/.cache/guildhall-chromium')
/** Their package.json may not be asked for by name. */
const packaged = join(root, 'node_modules/@sparticuz/chromium')
const dejavu = join(root, 'node_modules/dejavu-fonts-ttf/ttf')

const flags = ['--no-sandbox', '--disable-gpu', '--lang=en-US']

/**
 * Starts the browser. Its processes end with `close()`.
 *
 * @param extraFlags For instance `--origin-to-force-quic-on=...`
 */
export async function launchBrowser(extraFlags: readonly string[] = []): Promise<Browser> {
  return chromium.launch(await launchOptions(extraFlags))
}

/** As `launchBrowser`, with all that a browser keeps on a disk in this folder. */
export async function launchWithProfile(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, await launchOptions([]))
}

async function launchOptions(extraFlags: readonly string[]): Promise<LaunchOptions> {
  const args = [...flags, ...extraFlags]
  if (!isPackaged) return { channel: 'chrome', args }
  const folder = await unpackedChromium()
  return {
    executablePath: join(folder, 'chromium'),
    args,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      LANG: 'en_US.UTF-8',
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: join(folder, 'our-fonts'),
    },
  }
}

const isPackaged = process.platform === 'linux' && process.arch === 'x64'

/**
 * As `launchBrowser`, for tests: where there is no browser it prints the reason, and answers
 * undefined, so that they can be skipped.
 */
export async function browserForTests(
  extraFlags: readonly string[] = [],
): Promise<Browser | undefined> {
  try {
    return await launchBrowser(extraFlags)
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    process.stdout.write(`there is no browser here, so its tests are skipped: ${reason}\n`)
    return undefined
  }
}

/** Unpacks the browser once; several processes that do so at a time do no harm. */
async function unpackedChromium(): Promise<string> {
  const packed = join(packaged, 'bin')
  const manifest: { version: string } = JSON.parse(
    await readFile(join(packaged, 'package.json'), 'utf8'),
  )
  const { version } = manifest
  const folder = join(cache, version)
  if (existsSync(folder)) return folder
  const temporary = `${folder}.${process.pid}`
  await mkdir(temporary, { recursive: true })
  for (const name of await readdir(packed, { recursive: true })) {
    if (name.endsWith('.br')) await unpack(join(packed, name), temporary)
  }
  await writeFonts(temporary, folder)
  await rename(temporary, folder).catch(() => rm(temporary, { recursive: true }))
  return folder
}

async function unpack(file: string, folder: string): Promise<void> {
  const bytes = await promisify(brotliDecompress)(await readFile(file))
  const name = file.split('/').at(-1)?.replace(/\.br$/, '') ?? ''
  if (!name.endsWith('.tar')) {
    await writeFile(join(folder, name), bytes, { mode: 0o755 })
    return
  }
  await pipeline(async function* () {
    yield bytes
  }, extract(folder))
}

/** Without fonts a renderer ends at the first input. */
async function writeFonts(temporary: string, folder: string): Promise<void> {
  await mkdir(join(temporary, 'our-fonts'))
  await writeFile(
    join(temporary, 'our-fonts/fonts.conf'),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir>${join(folder, 'fonts')}</dir>
<dir>${dejavu}</dir>
<cachedir>${join(folder, 'font-cache')}</cachedir>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
<alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
<alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`,
  )
}
