import { describe, expect, it } from 'vitest'
import { openHarness, startHarness } from '../host.fixture.ts'
import { startReloading } from '../reload/reload.fixture.ts'
import { sha256 } from '../wire/revision.ts'

const config = { shared_dirs: ['common'] }

/** The same game in each language: rules that are shared, and a place in them that fails. */
const games = {
  TypeScript: {
    'game/main.ts': `import { twice } from '../common/rules.ts'
guildhall.on_rpc('twice', () => twice(2))
guildhall.on_rpc('fails', () => twice(0))`,
    'common/rules.ts': `import items from './items.json' with { type: 'json' }
export function twice(n: number): number {
  if (n === 0) throw new Error('of nothing')
  return n * items.factor
}`,
    'common/items.json': '{"factor":2}',
  },
  Lua: {
    'game/main.lua': `local rules = require("common.rules")
guildhall.on_rpc("twice", function() return rules.twice(2) end)
guildhall.on_rpc("fails", function() return rules.twice(0) end)`,
    'common/rules.lua': `local items = require("common.items")
return { twice = function(n)
  if n == 0 then error("of nothing") end
  return n * items.factor
end }`,
    'common/items.json': '{"factor":2}',
  },
  Python: {
    'game/main.py': `import guildhall
from common import rules
guildhall.on_rpc("twice", lambda: rules.twice(2))
guildhall.on_rpc("fails", lambda: rules.twice(0))`,
    'common/rules.py': `def twice(n):
    if n == 0:
        raise ValueError("of nothing")
    return n * 2`,
  },
}

describe('[S-SEL-8] a script has files of shared folders', () => {
  it.each([
    ['TypeScript', {}, '../common/rules.ts:3'],
    ['TypeScript', { tier: 'sandboxed' }, '../common/rules.ts:3'],
    ['Lua', {}, '../common/rules.lua:3'],
    ['Python', { memory_mb: 128 }, '../common/rules.py:3'],
  ] as const)('in %s %o', async (language, more, place) => {
    const files = games[language]
    const options = { files, scriptsIn: 'game', config: { ...config, ...more } }
    const { host, rpc } = await startHarness(options)
    expect(await rpc('twice')).toBe('4')
    expect(await rpc('fails')).toEqual({ error: 'RPC handler error' })
    expect(host.failures().items).toMatchObject([{ place }])
    // They are part of the revision.
    const lines = Object.entries(files)
      .map(([path, text]) => [path.startsWith('game/') ? path.slice(5) : `../${path}`, text])
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
      .map(([path, text = '']) => `${sha256(text)} ${path}\n`)
    expect(host.describe().readiness.revision_id).toBe(`sha256:${sha256(lines.join(''))}`)
  })

  it('[S-REL-3] [S-REL-4] a change in one is a change of the script', async () => {
    const files = games.TypeScript
    const reloading = await startReloading({ files, scriptsIn: 'game', config })
    reloading.save('common/rules.ts', "export const twice = (n: number): string => n + ' ' + n")
    expect(await reloading.seen(2)).toMatchObject({
      outcome: 'active',
      files: ['../common/items.json', '../common/rules.ts'],
    })
    expect(await reloading.rpc('twice')).toBe('2 2')
    await reloading.rpc('fails')
  })

  it('[S-REC-2] and a worker that is started again has them as they were', async () => {
    const files = {
      ...games.TypeScript,
      'game/main.ts': `${games.TypeScript['game/main.ts']}
guildhall.on_rpc('exit', () => process.exit(1))`,
    }
    const { host, rpc, until } = await startHarness({ files, scriptsIn: 'game', config })
    await rpc('exit')
    await until(() => host.describe().readiness.generation === 2)
    expect(await rpc('twice')).toBe('4')
  })

  it('and none of other folders', async () => {
    const main = (path: string) => `import '${path}'\nguildhall.on_rpc('x', () => 1)`
    const files = {
      'game/main.ts': main('../other/secret.ts'),
      'other/secret.ts': '',
      'common/a.ts': '',
    }
    const { host } = openHarness({ files, scriptsIn: 'game', config })
    await expect(host.start()).rejects.toThrow('lies outside of the scripts folder')
    const beyond = { ...files, 'game/main.ts': main('../common/../other/secret.ts') }
    const second = openHarness({ files: beyond, scriptsIn: 'game', config })
    await expect(second.host.start()).rejects.toThrow('lies outside of the scripts folder')
  })

  it('with the packages of the script', async () => {
    const files = {
      'game/main.ts': `import { one } from '../common/one.ts'\nguildhall.on_rpc('one', () => one)`,
      'common/one.ts': `export { one } from 'pack'`,
      'game/node_modules/pack/package.json': '{"name":"pack","type":"module","main":"index.js"}',
      'game/node_modules/pack/index.js': 'export const one = 1',
    }
    const { rpc } = await startHarness({ files, scriptsIn: 'game', config })
    expect(await rpc('one')).toBe('1')
  })
})

describe('[S-SEL-8] places are those of the source that a file was made of', () => {
  /** Line 3 of main.js is line 1 of src/game.ts; the rest has no source. */
  const map = { version: 3, sources: ['../src/game.ts'], names: [], mappings: ';;AAAA' }
  const main = (url: string) => `// made by a tool

guildhall.on_rpc('fails', () => { throw new Error('here') })
//# sourceMappingURL=${url}`
  const inline = Buffer.from(JSON.stringify({ ...map, sources: ['src/game.ts'] })).toString(
    'base64',
  )

  it.each([
    ['in a file', 'maps/main.js.map', { 'maps/main.js.map': JSON.stringify(map) }, 'src/game.ts:1'],
    ['in the text', `data:application/json;base64,${inline}`, {}, 'src/game.ts:1'],
    ['in no file', 'gone.map', {}, 'main.js:3'],
    ['that is none', 'main.js.map', { 'main.js.map': '{' }, 'main.js:3'],
    ['outside of the folder', '../../x.map', {}, 'main.js:3'],
  ])('by a map %s', async (_, url, more, place) => {
    for (const tier of ['trusted', 'sandboxed'] as const) {
      const files = { 'main.js': main(url), ...more }
      const { host, rpc } = await startHarness({ files, config: { tier } })
      await rpc('fails')
      expect(host.failures().items, tier).toMatchObject([{ place }])
    }
  })
})
