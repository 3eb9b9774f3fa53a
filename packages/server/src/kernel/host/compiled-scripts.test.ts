import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { keepCompiled, runScript } from './compiled-scripts.ts'

it('leaves nothing behind where it cannot keep what is compiled', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-compiled-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  enableCompileCache(folder)
  const name = `${process.pid}.js`
  const place = pathToFileURL(join(folder, name))
  writeFileSync(place, '(function () { return { n: 1 } })')
  const cache = getCompileCacheDir() ?? ''
  const kept = () => readdirSync(cache).filter((each) => each.startsWith(name))
  const keep = () => {
    expect(runScript(place, {})).toEqual({ n: 1 })
    keepCompiled()
    return kept()
  }
  const [file = '', ...others] = keep()
  expect(others).toEqual([])
  onTestFinished(() => rmSync(join(cache, file), { recursive: true, force: true }))
  rmSync(join(cache, file))
  mkdirSync(join(cache, file, 'in its way'), { recursive: true })
  expect(keep()).toContain(file)
  await expect.poll(kept).toEqual([file])
})
