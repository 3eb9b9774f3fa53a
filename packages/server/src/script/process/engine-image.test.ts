import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { imageSource, isImage } from '../worker/engines/python/interpreter/image.ts'
import { imageFolder, prepareImage } from './engine-image.ts'
import { findPackage } from './engine-packages.ts'

const packageDir = findPackage('pyodide') ?? ''
const clock = createSystemClock()
const prepare = (folder: string) => prepareImage({ packageDir, folder, clock })

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-image-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it('[S-LIM-5] an image is made once, also by several nodes, and made anew when it is broken', async () => {
  const folder = openFolder()
  const unused = join(folder, 'python-0123456789abcdef.image')
  writeFileSync(unused, 'of another version')
  utimesSync(unused, 0, 0)
  const [file, same] = await Promise.all([prepare(folder), prepare(folder)])
  expect(same).toBe(file)
  expect(readdirSync(folder)).toEqual([file.slice(folder.length + 1)])

  const { ino } = statSync(file)
  expect(await prepare(folder)).toBe(file)
  expect(statSync(file).ino).toBe(ino)

  const bytes = readFileSync(file)
  bytes[bytes.length - 1000] = (bytes[bytes.length - 1000] ?? 0) ^ 1
  writeFileSync(file, bytes)
  const source = imageSource(packageDir)
  expect(await isImage(file, source)).toBe(false)
  await prepare(folder)
  expect(await isImage(file, source)).toBe(true)
  expect(await isImage(file, 'f'.repeat(64))).toBe(false)
}, 120_000)

it('[S-LIM-5] a folder that takes no file is an error, and nothing is left in it', async () => {
  const file = join(openFolder(), 'a file')
  writeFileSync(file, '')
  await expect(prepare(join(file, 'folder'))).rejects.toThrow('ENOTDIR')
})

it('images are kept where the environment has its cache', () => {
  expect(imageFolder({ XDG_CACHE_HOME: '/cache' })).toBe('/cache/guildhall')
  expect(imageFolder({})).toMatch(/\.cache\/guildhall$/)
})
