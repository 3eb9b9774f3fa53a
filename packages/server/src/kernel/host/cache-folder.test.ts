import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createSystemClock } from '../clock.ts'
import { cacheFolder, compiledFolder } from './cache-folder.ts'

const clock = createSystemClock()

function openCache(): string {
  const cache = mkdtempSync(join(tmpdir(), 'guildhall-cache-'))
  onTestFinished(() => rmSync(cache, { recursive: true }))
  return cache
}

it('caches are kept where the environment has them', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/cache' })).toBe('/cache/guildhall')
  expect(cacheFolder({})).toMatch(/\.cache\/guildhall$/)
})

it('compiled sources have a folder of their own user', () => {
  const cache = openCache()
  expect(compiledFolder({ XDG_CACHE_HOME: cache }, clock)).toBe(join(cache, 'guildhall/compiled'))
})

it('and begin anew once a month', () => {
  const environment = { XDG_CACHE_HOME: openCache() }
  const folder = compiledFolder(environment, clock) ?? ''
  writeFileSync(join(folder, 'compiled before'), '')
  compiledFolder(environment, clock)
  expect(readdirSync(folder)).toEqual(['compiled before'])
  compiledFolder(environment, { nowUnixMs: () => clock.nowUnixMs() + 31 * 86_400_000 })
  expect(readdirSync(folder)).toEqual([])
})

it.each(['guildhall', 'guildhall/compiled'])('and none where others can write to %s', (open) => {
  const cache = openCache()
  mkdirSync(join(cache, 'guildhall/compiled'), { recursive: true, mode: 0o700 })
  chmodSync(join(cache, open), 0o777)
  expect(compiledFolder({ XDG_CACHE_HOME: cache }, clock)).toBeUndefined()
})

it('nor behind a link, whose end may be anybody’s', () => {
  const cache = openCache()
  mkdirSync(join(cache, 'guildhall'), { mode: 0o700 })
  symlinkSync(openCache(), join(cache, 'guildhall/compiled'))
  expect(compiledFolder({ XDG_CACHE_HOME: cache }, clock)).toBeUndefined()
})

it('nor where no folder can be made', () => {
  const file = join(openCache(), 'a file')
  writeFileSync(file, '')
  expect(compiledFolder({ XDG_CACHE_HOME: file }, clock)).toBeUndefined()
})
