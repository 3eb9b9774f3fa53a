import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of others that is inside of a release. */
export type Part = {
  name: string
  version: string
  /** As SPDX has it, e.g. `MIT`. */
  license: string
  /** The hash of its tarball as the lockfile has it, e.g. `sha512-...`. */
  integrity?: string
  /** What its authors want to be said with every copy. */
  text: string
}

type LockEntry = {
  version?: string
  license?: string
  integrity?: string
  dependencies?: Record<string, string>
  link?: boolean
}

/**
 * The packages that some packages of this repository need to run, and all that those need, by the
 * lockfile. Ours are not among them.
 *
 * @param without packages that are tools, or not part of the release
 */
export function partsOf(root: string, owns: readonly string[], without: readonly string[]): Part[] {
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const entries: Readonly<Record<string, LockEntry>> = lockfile.packages
  const found = new Map<string, LockEntry>()

  function add(path: string): void {
    for (const name of Object.keys(entries[path]?.dependencies ?? {})) {
      const place = [`${path}/node_modules/${name}`, `node_modules/${name}`].find(
        (at) => entries[at],
      )
      if (place === undefined || found.has(place) || without.includes(name)) continue
      const entry = entries[place]
      if (entry === undefined || entry.link) continue
      found.set(place, entry)
      add(place)
    }
  }

  for (const own of owns) add(`packages/${own}`)
  const parts = [...found].map(([place, entry]) => partOf(root, place, entry))
  return parts.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** One installed package by its name. */
export function partNamed(root: string, name: string): Part {
  const place = `node_modules/${name}`
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return partOf(root, place, lockfile.packages[place] ?? {})
}

function partOf(root: string, place: string, { license, integrity }: LockEntry): Part {
  const folder = join(root, place)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return {
    name: manifest.name,
    version: manifest.version,
    license: license ?? manifest.license ?? 'unknown',
    ...(integrity === undefined ? {} : { integrity }),
    text: textIn(folder),
  }
}

function textIn(folder: string): string {
  if (!existsSync(folder)) return ''
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name))
  return files.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n')
}

/** One page with what each part is licensed under. */
export function licencePage(parts: readonly Part[]): string {
  const head = 'What this release has inside, and what it is licensed under.'
  const chapters = parts.map(({ name, version, license, text }) => {
    return `${name} ${version}\n${license}\n\n${text || `It has no file of its own: ${license}.`}`
  })
  return `${[head, ...chapters].join(`\n\n${'-'.repeat(78)}\n\n`)}\n`
}

/** The bill of materials in the form of CycloneDX 1.6. */
export function billOfMaterials(version: string, parts: readonly Part[]): object {
  const components = parts.map(({ name, version, license, integrity }) => {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
    const content = digest === undefined ? undefined : Buffer.from(digest, 'base64').toString('hex')
    return {
      type: name === 'node' ? 'platform' : 'library',
      'bom-ref': purl,
      ...{ name, version, purl, licenses: [{ expression: license }] },
      ...(content === undefined ? {} : { hashes: [{ alg: 'SHA-512', content }] }),
    }
  })
  const component = { type: 'application', 'bom-ref': 'guildhall', name: 'guildhall', version }
  const licenses = [{ expression: 'Apache-2.0' }]
  return {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 },
    metadata: { component: { ...component, licenses } },
    components,
    dependencies: [{ ref: 'guildhall', dependsOn: components.map((part) => part['bom-ref']) }],
  }
}
