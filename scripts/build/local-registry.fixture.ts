import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-fs'

export type LocalRegistry = { url: string; close(): Promise<void> }

type Packed = { manifest: { name: string; version: string }; file: string }

const installed = join(import.meta.dirname, '../../node_modules')

/**
 * A registry of this machine, for npm itself to install from: it has the packages that were packed
 * here, and what is installed in this repository, each in the one version that is there.
 *
 * @param ours folders of packages, with the file that npm packed of each
 */
export async function startRegistry(ours: ReadonlyMap<string, string>): Promise<LocalRegistry> {
  const cache = await mkdtemp(join(tmpdir(), 'guildhall-registry-'))
  const packed = new Map<string, Promise<Packed>>()
  for (const [folder, file] of ours) {
    const manifest = await readManifest(folder)
    packed.set(manifest.name, Promise.resolve({ manifest, file }))
  }

  async function packInstalled(name: string): Promise<Packed> {
    const folder = join(installed, name)
    const file = join(cache, `${name.replace('/', '-')}.tgz`)
    const contents = pack(folder, {
      // An installation has links where a package has files.
      dereference: true,
      ignore: (path) => path.startsWith(join(folder, 'node_modules')),
      map: (header) => ({ ...header, name: `package/${header.name}` }),
    })
    // Nothing is gained by making it small: it goes no further than this machine.
    await pipeline(contents, createGzip({ level: 0 }), createWriteStream(file))
    return { manifest: await readManifest(folder), file }
  }

  function find(name: string): Promise<Packed> | undefined {
    if (engines.includes(name) || !existsSync(join(installed, name))) return packed.get(name)
    const found = packed.get(name) ?? packInstalled(name)
    packed.set(name, found)
    return found
  }

  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://registry').pathname)
    const found = await find(path.slice(1).replace(/\/-\/.*$/, ''))
    if (found === undefined) {
      response.writeHead(404).end('{}')
      return
    }
    const bytes = await readFile(found.file)
    response.end(
      path.includes('/-/') ? bytes : JSON.stringify(document(found.manifest, bytes, url)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(cache, { recursive: true, force: true })
    },
  }
}

/** Optional, and large: an installation does without them. */
const engines = ['pyodide', 'quickjs-wasi', 'wasmoon']

async function readManifest(folder: string): Promise<Packed['manifest']> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
}

/** What a registry says of a package. */
function document(manifest: Packed['manifest'], bytes: Buffer, url: string) {
  const { name, version } = manifest
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const tarball = `${url}/${name}/-/${version}.tgz`
  const versions = { [version]: { ...manifest, dist: { tarball, integrity } } }
  return { name, 'dist-tags': { latest: version }, versions }
}
