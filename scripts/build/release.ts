import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-fs'
import { readServerManifest, root, writeInstalledServer } from './installed-server.ts'
import { billOfMaterials, licencePage, type Part, partNamed, partsOf } from './licences.ts'
import { stripped } from './stripped.ts'

/**
 * The release: a folder that runs on a machine with nothing else, and the archive of it. It holds
 * the server with all that it reads, the Node.js that it runs on without its symbols, the one
 * package of machine code, and what one has to say of all that.
 */

const machineCode = '@node-rs/argon2'
/** Needed to build, or by another form of the server. */
const tools = ['esbuild', machineCode]

export type ReleaseOptions = {
  /** With the engines of the sandbox, Lua and Python. */
  engines?: boolean
}

/** Writes the release into a folder that does not exist yet. The dashboard has to be built. */
export async function writeRelease(folder: string, options: ReleaseOptions = {}): Promise<void> {
  await writeInstalledServer(folder)
  const program = join(folder, 'bin/guildhall')
  await mkdir(dirname(program))
  await copyFile(join(root, 'packages/server/bin/guildhall.sh'), program)
  await chmod(program, 0o755)
  const runtime = join(folder, 'runtime/node')
  await mkdir(dirname(runtime))
  await writeFile(runtime, stripped(await readFile(process.execPath)), { mode: 0o755 })
  const { optionalDependencies } = await readServerManifest()
  const engines = options.engines ? Object.keys(optionalDependencies) : []
  const packages = [...machineCodePackages(), ...engines]
  for (const name of packages) await copyPackage(name, folder)
  await writePapers(folder, packages)
}

/** The package that loads the one for this platform, and that one. */
function machineCodePackages(): string[] {
  const platform = `${machineCode}-${process.platform}-${process.arch}`
  const ends = ['', '-gnu', '-msvc']
  const found = ends.map((end) => platform + end).filter(isInstalled)
  if (found.length === 0) throw new Error(`${machineCode} is not installed for this platform`)
  return [machineCode, ...found]
}

function isInstalled(name: string): boolean {
  return existsSync(join(root, 'node_modules', name))
}

async function copyPackage(name: string, folder: string): Promise<void> {
  const target = join(folder, 'node_modules', name)
  await cp(join(root, 'node_modules', name), target, { recursive: true, dereference: true })
}

/** Licences, the bill of materials, and how to get here from an older version. */
async function writePapers(folder: string, packages: readonly string[]): Promise<void> {
  const { version } = await readServerManifest()
  const owns = ['server', 'contract', 'client', 'dashboard']
  const inside = [
    nodePart(),
    ...packages.map((name) => partNamed(root, name)),
    ...partsOf(root, owns, tools),
  ]
  await writeFile(join(folder, 'LICENSES.txt'), licencePage(inside))
  const bill = JSON.stringify(billOfMaterials(version, inside), null, 2)
  await writeFile(join(folder, 'sbom.cdx.json'), `${bill}\n`)
  const changes = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  await writeFile(join(folder, 'UPGRADING.md'), upgradeNotes(version, changes))
}

/** Node.js says which versions of others it is made of; their texts are in its own licence. */
function nodePart(): Part {
  const { node: version, ...others } = process.versions
  const list = Object.entries(others).map(([name, of]) => `  ${name} ${of}`)
  const text = [
    'Copyright Node.js contributors. Its licence, with those of what it is made of:',
    `https://github.com/nodejs/node/blob/v${version}/LICENSE`,
    '',
    ...list,
  ]
  return { name: 'node', version, license: 'MIT', text: text.join('\n') }
}

function upgradeNotes(version: string, changelog: string): string {
  const [, newest = ''] = /\n(## .*?)(?=\n## |$)/s.exec(changelog) ?? []
  return `# Upgrading to Guildhall ${version}

1. Make a backup: \`bin/guildhall backup --to FILE\`, or \`pg_dump\` for PostgreSQL.
2. Unpack this version beside the old one, and run \`bin/guildhall check --database\` there:
   it names keys that are gone and pending migrations, and changes nothing.
3. Stop the old node, start the new one. Migrations run at the start, an embedded file is copied.
   With several nodes on one PostgreSQL stop and start one after the other.
4. To go back, stop the node and restore the backup: an older version refuses a newer schema.

What is new:

${newest.trim()}
`
}

export type ReleaseArchive = { file: string; bytes: number; sha256: string }

/**
 * Packs a release into `FOLDER.tar.gz` beside it, and adds its checksum to `SHA256SUMS` there.
 *
 * @param level how hard gzip tries, 1 to 9
 */
export async function packRelease(folder: string, level: number): Promise<ReleaseArchive> {
  const file = `${folder}.tar.gz`
  const name = basename(folder)
  const contents = pack(folder, {
    // The same sources make the same bytes.
    map: (header) => ({
      ...header,
      name: `${name}/${header.name}`,
      mtime: new Date(0),
      uid: 0,
      gid: 0,
    }),
    sort: true,
  })
  await pipeline(contents, createGzip({ level }), createWriteStream(file))
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  const sha256 = hash.digest('hex')
  await writeFile(
    join(dirname(folder), `${basename(file)}.sha256`),
    `${sha256}  ${basename(file)}\n`,
  )
  return { file, bytes: (await stat(file)).size, sha256 }
}

/** Where `npm run release` puts a release of this version and platform. */
export async function releaseFolder(options: ReleaseOptions = {}): Promise<string> {
  const { version } = await readServerManifest()
  const platform = `${process.platform}-${process.arch}`
  const end = options.engines ? '-engines' : ''
  return join(root, 'dist/release', `guildhall-${version}-${platform}${end}`)
}

/** Makes the folder anew. */
export async function makeRelease(folder: string, options: ReleaseOptions): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeRelease(folder, options)
}
