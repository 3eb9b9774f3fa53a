import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { openCacheFolder } from '../../kernel/host/cache-folder.ts'
import { startHarness } from '../host.fixture.ts'
import {
  encodeImage,
  imageSource,
  isImage,
  readImage,
} from '../worker/engines/python/interpreter/image.ts'
import { prepareImage } from './engine-image.ts'
import { findPackage } from './engine-packages.ts'

const packageDir = findPackage('pyodide') ?? ''
const clock = createSystemClock()
type Make = (packageDir: string, file: string) => Promise<void>
const prepare = (cache: string, make?: Make) => {
  const environment = { XDG_CACHE_HOME: cache }
  return prepareImage({ packageDir, environment, clock, ...(make ? { make } : {}) })
}

function openCache(): string {
  const cache = mkdtempSync(join(tmpdir(), 'guildhall-image-'))
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }))
  return cache
}

function openFolder(): { cache: string; folder: string } {
  const cache = openCache()
  return { cache, folder: openCacheFolder({ XDG_CACHE_HOME: cache }) }
}

it('[S-LIM-5] an image is made once, also by several nodes, and anew when it is broken', async () => {
  const { cache, folder } = openFolder()
  const unused = join(folder, 'python-0123456789abcdef.image')
  writeFileSync(unused, 'of another version')
  const killed = mkdtempSync(join(folder, 'making-'))
  writeFileSync(join(killed, 'half an image'), '')
  for (const old of [unused, killed]) utimesSync(old, 0, 0)
  const source = imageSource(packageDir)
  const broken = join(folder, `python-${source.slice(0, 16)}.image`)
  const bytes = encodeImage(source, Buffer.alloc(2000))
  writeFileSync(broken, bytes)
  expect(await isImage(broken, source)).toBe(true)
  bytes[bytes.length - 1000] = 1
  writeFileSync(broken, bytes)
  expect(await isImage(broken, source)).toBe(false)
  // Both have begun before either ends.
  let made = 0
  const both = Promise.withResolvers<void>()
  const make = async (_packageDir: string, file: string) => {
    made += 1
    writeFileSync(file, encodeImage(source, Buffer.alloc(1000)))
    if (made === 2) both.resolve()
    await both.promise
  }
  const files = await Promise.all([prepare(cache, make), prepare(cache, make)])
  expect(files).toEqual([broken, broken])
  expect(readdirSync(folder)).toEqual([broken.slice(folder.length + 1)])

  const { ino } = statSync(broken)
  expect(await prepare(cache, make)).toBe(broken)
  expect([statSync(broken).ino, made]).toEqual([ino, 2])
  expect(await isImage(broken, source)).toBe(true)
  expect(await isImage(broken, 'f'.repeat(64))).toBe(false)
})

it('[S-LIM-5] a start begins with the image', async () => {
  const cache = openCache()
  const file = await prepare(cache)
  const source = imageSource(packageDir)
  expect(await isImage(file, source)).toBe(true)
  // A memory of which something is known: who begins with it shows it.
  const memory = Buffer.from(readImage(file) ?? [])
  memory.write(
    'marked',
    memory.indexOf('A collection of string constants') + 'A collection of '.length,
  )
  writeFileSync(file, encodeImage(source, memory))
  expect(await startPython(cache)).toContain('A collection of marked constants')
}, 120_000)

/** Starts a script that says what the memory of its interpreter has as a text of the library. */
async function startPython(cache: string) {
  const script = `import guildhall, string
@guildhall.on_rpc("text")
def text(): return string.__doc__`
  const { rpc } = await startHarness({
    files: { 'main.py': script },
    config: { memory_mb: 128 },
    environment: { XDG_CACHE_HOME: cache },
  })
  return rpc('text')
}

it('[S-LIM-5] a folder that takes no file is an error, and nothing is left in it', async () => {
  const file = join(openCache(), 'a file')
  writeFileSync(file, '')
  await expect(prepare(file)).rejects.toThrow('ENOTDIR')
})

it('[S-LIM-5] nor is an image read from a folder to which others can write', async () => {
  const { cache, folder } = openFolder()
  const source = imageSource(packageDir)
  const planted = join(folder, `python-${source.slice(0, 16)}.image`)
  writeFileSync(planted, encodeImage(source, Buffer.alloc(1000)))
  expect(await prepare(cache)).toBe(planted)
  chmodSync(folder, 0o777)
  await expect(prepare(cache)).rejects.toThrow('others can write')
})
