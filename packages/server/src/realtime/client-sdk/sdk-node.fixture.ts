import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'
import { type Line, openLine } from './cut-line.fixture.ts'

/** A node process, and a line to it that a test can cut. */
export type SdkNode = {
  readonly url: string
  readonly line: Line
  /** Where the script lies. */
  readonly folder: string
}

/** Runs a node with this script for the tests of a file. */
export function serveForSdk(
  script: string,
  settings: Record<string, string> = {},
  file = 'main.ts',
): SdkNode {
  let folder = ''
  let node: NodeProcess
  let line: Line
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guildhall-sdk-'))
    await writeFile(join(folder, file), script)
    node = await startNodeProcess({
      'runtime.scripts_dir': folder,
      'authentication.limits.source.limit': '1000',
      'authentication.limits.registration_source.limit': '1000',
      ...settings,
    })
    line = await openLine(Number(new URL(node.url).port))
  })
  afterAll(async () => {
    line.close()
    await node.stop()
    await rm(folder, { recursive: true })
  })
  return {
    get url() {
      return node.url
    },
    get line() {
      return line
    },
    get folder() {
      return folder
    },
  }
}
