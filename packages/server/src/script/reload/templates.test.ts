import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { player, startHarness } from '../host.fixture.ts'

const templates = new URL('../../../../create-guildhall/templates/', import.meta.url)

it.each(['typescript', 'lua', 'python'])(
  '[S-REL-8] [S-LANG-4] a project that is begun in %s starts, keeps its scores over a reload, and shows who taps its own',
  async (language) => {
    const folder = new URL(`${language}/game/`, templates)
    const names = readdirSync(folder).filter((name) => /^(main|protocol)\.\w+$/.test(name))
    const { host, message, delivered, log } = await startHarness({
      files: Object.fromEntries(
        names.map((name) => [name, readFileSync(fileURLToPath(new URL(name, folder)))]),
      ),
      config: { memory_mb: 256 },
      functions: { storage_read: () => null, storage_write: () => ({ version: '1' }) },
    })
    const tap = () => message(100, '{"taps":1}', player(1, { room_id: 5, match_id: 'm5' }))
    await tap()
    expect(await host.reload()).toMatchObject({ outcome: 'active', generation: 2 })
    await tap()
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([])
    const scores = delivered.map(({ to, text }) => [to, JSON.parse(text)])
    expect(scores).toEqual([
      ['broadcast', { 'name-1': 1 }],
      ['send', { 'name-1': 1 }],
      ['broadcast', { 'name-1': 2 }],
      ['send', { 'name-1': 2 }],
    ])
  },
)
