import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { languages, selectEntrypoint } from './languages.ts'

function folderWith(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-languages-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const file of files) writeFileSync(join(folder, file), '')
  return folder
}

const everything = (name: string) => `/packages/${name}`
const nothing = () => undefined

it('[S-SEL-1] takes the first entry file, or that of the language that is configured', () => {
  const scripts_dir = folderWith('main.lua', 'main.ts', 'main.js')
  const wanted = { scripts_dir, tier: 'trusted', memory_mb: 256 } as const
  expect(selectEntrypoint(wanted, everything)).toMatchObject({
    file: 'main.ts',
    language: 'typescript',
    source: 'autodetected',
  })
  expect(selectEntrypoint({ ...wanted, language: 'js' }, everything)).toMatchObject({
    file: 'main.js',
    language: 'javascript',
    source: 'explicit',
  })
  expect(selectEntrypoint({ ...wanted, language: 'python' }, everything)).toBeUndefined()
})

const guests = languages.flatMap(({ name, entrypoints, engines }) =>
  (['trusted', 'sandboxed'] as const).flatMap((tier) => {
    const needed = engines[tier]?.package
    return needed === undefined ? [] : [{ name, tier, needed, file: entrypoints[0] ?? '' }]
  }),
)

it.runIf(guests.length > 0).each(guests)(
  '[S-SEL-4] names the package that $name scripts need in the $tier tier',
  ({ tier, needed, file }) => {
    const wanted = { scripts_dir: folderWith(file), tier, memory_mb: 256 }
    expect(() => selectEntrypoint(wanted, nothing)).toThrow(`install the package ${needed}`)
    expect(selectEntrypoint(wanted, everything)?.packageDir).toBe(`/packages/${needed}`)
  },
)

it('[S-TIER-10] Python needs 128 MiB', () => {
  const wanted = { scripts_dir: folderWith('main.py'), tier: 'trusted', memory_mb: 127 } as const
  const refused = () => selectEntrypoint(wanted, everything)
  expect(refused).toThrow('runtime.memory_mb must be at least 128 for python scripts')
  expect(selectEntrypoint({ ...wanted, memory_mb: 128 }, everything)?.language).toBe('python')
})
