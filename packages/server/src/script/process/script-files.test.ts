import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readScriptFiles } from './script-files.ts'

const lua = { extensions: ['.lua'], isUtf8: false }
const python = { extensions: ['.py'], isUtf8: true }

function folderWith(files: { [path: string]: string | Uint8Array }): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

const pathsIn = async (folder: string, language = lua) =>
  (await readScriptFiles({ own: folder, shared: [] }, language)).map(({ path }) => path)

it('[S-SEL-7] hands over files of the language and JSON, and nothing of node_modules', async () => {
  const folder = folderWith({
    'main.lua': 'return 1',
    'a/b.lua': '',
    'a/items.json': '{}',
    'main.ts': '',
    'secret.pem': '',
    'node_modules/x/init.lua': '',
    'a/node_modules/y.lua': '',
  })
  const files = await readScriptFiles({ own: folder, shared: [] }, lua)
  expect(files.map(({ path }) => path)).toEqual(['a/b.lua', 'a/items.json', 'main.lua'])
  expect(new TextDecoder().decode(files[2]?.bytes)).toBe('return 1')
})

it('[S-SEL-7] follows links inside of the folder, and refuses one that leads out', async () => {
  const outside = folderWith({ 'other.lua': '', 'notes.txt': '' })
  const folder = folderWith({ 'main.lua': '', 'shared/a.lua': '' })
  symlinkSync(join(folder, 'shared'), join(folder, 'again'))
  symlinkSync(folder, join(folder, 'shared/round'))
  symlinkSync(join(folder, 'gone.lua'), join(folder, 'nowhere.lua'))
  symlinkSync(join(outside, 'notes.txt'), join(folder, 'notes.txt'))
  expect(await pathsIn(folder)).toEqual(['again/a.lua', 'main.lua', 'shared/a.lua'])
  for (const [target, link] of [
    [join(outside, 'other.lua'), 'other.lua'],
    [outside, 'out'],
  ] as const) {
    symlinkSync(target, join(folder, link))
    await expect(pathsIn(folder)).rejects.toThrow(
      `${link}: the link leads out of the scripts folder`,
    )
    rmSync(join(folder, link))
  }
})

it('[S-SEL-7] takes 2,000 files and 16 MiB', async () => {
  const many = Array.from({ length: 2000 }, (_, n) => [`n${n}.lua`, ''])
  const folder = folderWith(Object.fromEntries(many))
  expect(await pathsIn(folder)).toHaveLength(2000)
  writeFileSync(join(folder, 'one-more.lua'), '')
  await expect(pathsIn(folder)).rejects.toThrow('the script has more than 2000 files')
  const large = folderWith({ 'a.lua': new Uint8Array(16_777_216) })
  expect(await pathsIn(large)).toEqual(['a.lua'])
  writeFileSync(join(large, 'b.lua'), 'x')
  await expect(pathsIn(large)).rejects.toThrow("the script's files are larger than 16777216 bytes")
})

it('[S-SEL-7] holds Python and JSON to UTF-8, and Lua to no encoding', async () => {
  const latin = new Uint8Array([0x2d, 0x2d, 0xe4])
  expect(await pathsIn(folderWith({ 'main.lua': latin }))).toEqual(['main.lua'])
  const json = folderWith({ 'main.lua': '', 'a/items.json': latin })
  await expect(pathsIn(json)).rejects.toThrow('a/items.json: the file is not UTF-8')
  const module = folderWith({ 'main.py': latin })
  await expect(pathsIn(module, python)).rejects.toThrow('main.py: the file is not UTF-8')
})

it('[S-SEL-8] hands over shared folders beside the script, under their names', async () => {
  const project = folderWith({
    'game/main.lua': '',
    'common/rules/cards.lua': '',
    'common/node_modules/x.lua': '',
    'common/items.json': '{}',
    'other/secret.lua': '',
  })
  const own = join(project, 'game')
  const visited: string[] = []
  const read = (...shared: string[]) =>
    readScriptFiles({ own, shared }, lua, (folder) => void visited.push(folder))
  const paths = (await read('common')).map(({ path }) => path)
  expect(paths).toEqual(['main.lua', '../common/items.json', '../common/rules/cards.lua'])
  expect(visited).toEqual(['', '../common', '../common/rules'])
  await expect(read('gone')).rejects.toThrow(`there is no folder ${join(project, 'gone')}`)
  symlinkSync(join(project, 'other/secret.lua'), join(project, 'common/out.lua'))
  await expect(read('common')).rejects.toThrow('../common/out.lua: the link leads out')
})
