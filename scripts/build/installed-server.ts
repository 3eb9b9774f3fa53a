import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuiltFile } from './scripts.ts'
import { bundle } from './server.ts'

/**
 * The server as it is installed, apart from this repository: a folder whose `lib` has the built
 * files and all that they read, and no sources. The package `guildhall` and the release are made of
 * it.
 */

export const root = join(import.meta.dirname, '../..')

/** Where the built files would lie: below the root, as `lib` does below an installed server. */
const home = join(root, 'lib')

const page = join(root, 'packages/dashboard/dist/dashboard.html')
const quicEngine = fileURLToPath(import.meta.resolve('@currentspace/http3/wasm'))
const templates = join(root, 'packages/create-guildhall/templates')

/** What the server asks for by its package, and the name in `lib` that it gets instead. */
const assets = new Map([
  ['@guildhall/dashboard/page', 'dashboard.html'],
  // Its file is found in the folder of the module.
  ['@currentspace/http3/wasm', 'http3-core'],
  ['create-guildhall/templates', 'templates/README.md'],
])

/** What editors read of `guildhall`, for each language. */
export const stubs = ['guildhall.d.ts', 'guildhall.lua', 'guildhall.pyi']

/** The same in every folder that a process writes. */
let built: Promise<BuiltFile[]> | undefined

/** Writes the server into an empty folder. The dashboard's page has to be built. */
export async function writeInstalledServer(folder: string): Promise<void> {
  const lib = join(folder, 'lib')
  await mkdir(lib, { recursive: true })
  built ??= bundle({ home, assets })
  for (const { name, text } of await built) await writeFile(join(lib, name), text)
  for (const end of ['', '.br', '.gz']) await copyFile(page + end, join(lib, basename(page) + end))
  const core = 'http3_client.wasm'
  await copyFile(join(dirname(quicEngine), core), join(lib, core))
  await cp(templates, join(lib, 'templates'), { recursive: true })
  for (const stub of stubs) await copyFile(join(root, 'packages/server', stub), join(folder, stub))
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The members of the server's package.json that a package of it has as well. */
export async function readServerManifest(): Promise<ServerManifest> {
  return JSON.parse(await readFile(join(root, 'packages/server/package.json'), 'utf8'))
}

export type ServerManifest = {
  version: string
  description: string
  license: string
  repository: object
  engines: Record<string, string>
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  peerDependencies: Record<string, string>
  peerDependenciesMeta: Record<string, object>
}
