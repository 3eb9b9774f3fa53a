import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os, { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
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
  const changed = (daysAgo: number) => {
    utimesSync(folder, 0, clock.nowUnixMs() / 1000 - daysAgo * 86_400)
    return compiledFolder(environment, clock)
  }
  expect(changed(29)).toBe(folder)
  expect(readdirSync(folder)).toEqual(['compiled before'])
  expect(changed(31)).toBe(folder)
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

it('nor where the system makes none, which is not tried for ever', () => {
  const source = JSON.stringify(new URL('./cache-folder.ts', import.meta.url))
  const environment = JSON.stringify({ XDG_CACHE_HOME: '/proc/nothing/cache' })
  const program = `import(${source}).then((folders) => folders.openCacheFolder(${environment}))`
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { timeout: 30_000 })
  expect(status).toBe(1)
  expect(String(stderr)).toContain("mkdir '/proc")
})

it('nor below the working directory, whose files are the game’s', () => {
  expect(compiledFolder({ XDG_CACHE_HOME: 'a cache of a game' }, clock)).toBeUndefined()
  expect(existsSync('a cache of a game')).toBe(false)
})

it('nor for a user without a home', () => {
  const homedir = vi.spyOn(os, 'homedir').mockImplementation(() => {
    throw new Error('uv_os_homedir returned ENOENT')
  })
  onTestFinished(() => {
    homedir.mockRestore()
    syncBuiltinESMExports()
  })
  syncBuiltinESMExports()
  expect(compiledFolder({}, clock)).toBeUndefined()
})
