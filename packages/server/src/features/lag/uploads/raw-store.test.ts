import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fileHandles } from '../file-handles.fixture.ts'
import { createRawStore } from './raw-store.ts'

it('[L-UP-5] a file is on the disk before it has its name, and the name before it is published', async () => {
  const root = mkdtempSync(join(tmpdir(), 'guildhall-raw-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const handle = `lc1-${'ab'.repeat(16)}`
  const raw = createRawStore(root, 1e9)
  await raw.open()
  const staged = await raw.stage(handle)
  await staged.write(Buffer.from('recorded'))

  const places = { file: join(root, 'staging', handle), shard: join(root, 'ab'), root }
  const named = join(places.shard, handle)
  const synced: [place: string | undefined, isNamed: boolean][] = []
  const spy = vi.spyOn(await fileHandles(root), 'sync')
  onTestFinished(() => spy.mockRestore())
  spy.mockImplementation(async function (this: FileHandle) {
    const { ino } = await this.stat()
    const found = Object.entries(places).find(
      ([, path]) => statSync(path, { throwIfNoEntry: false })?.ino === ino,
    )
    synced.push([found?.[0], existsSync(named)])
  })
  await staged.publish()
  expect(synced).toEqual([
    ['file', false],
    ['shard', true],
    ['root', true],
  ])
})
