import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { LanguageOfGame } from './languages.ts'
import { CannotWrite, writeProject } from './write.ts'

export type Project = {
  /** Where it goes, as it was typed. */
  folder: string
  cwd: string
  language: LanguageOfGame
  /** The version of Guildhall's packages. */
  version: string
  /** A folder with their `.tgz` files, to install from instead of a registry. */
  packages: string | undefined
}

/**
 * Makes the project of a game.
 *
 * @returns the names of its files
 * @throws CannotWrite, when nothing was written
 */
export function makeProject({ folder, cwd, language, version, packages }: Project): string[] {
  const target = resolve(cwd, folder)
  const name = packageName(target)
  const packed = packages === undefined ? undefined : findPacked(resolve(cwd, packages), version)
  const of = (each: PackageName) => packed?.get(each) ?? version
  const words = { name, guildhall: of('guildhall'), client: of('@guildhall/client') }
  const names = writeProject(target, language, words)
  const file = join(target, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  Object.assign(manifest.dependencies, language.packages)
  // The client asks for it by its version, which no registry has yet.
  if (packed) manifest.dependencies['@guildhall/contract'] = of('@guildhall/contract')
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  return names
}

/** The name of the project, which is that of its folder. */
function packageName(target: string): string {
  const name = basename(target).toLowerCase().replaceAll(' ', '-')
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name) || reserved.includes(name)) {
    throw new CannotWrite(
      `a project cannot be called ${JSON.stringify(basename(target))}: letters, digits, "-", ` +
        '"_" and "." are allowed, a letter or digit first, and no name of a package that it uses',
    )
  }
  return name
}

/** npm installs no package below one of the same name. */
const reserved = ['guildhall', 'vite', 'typescript', 'esbuild', 'node_modules', 'favicon.ico']

const packageFiles = {
  guildhall: 'guildhall',
  '@guildhall/client': 'guildhall-client',
  '@guildhall/contract': 'guildhall-contract',
} as const
type PackageName = keyof typeof packageFiles

/** What package.json says for each package whose file is in the folder. */
function findPacked(folder: string, version: string): Map<PackageName, string> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CannotWrite(`there is no folder ${folder}`)
  }
  const found = new Map<PackageName, string>()
  const names = Object.keys(packageFiles) as PackageName[]
  for (const name of names) {
    const file = `${packageFiles[name]}-${version}.tgz`
    if (!readdirSync(folder).includes(file)) throw new CannotWrite(`${folder} has no ${file}`)
    found.set(name, `file:${join(folder, file)}`)
  }
  return found
}
