import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { modulesOfNode } from './modules-of-node.ts'

it('[S-TIER-1] loads modules of Node.js late, also where a script has deleted `process`', async () => {
  const contents = `import { createHash, Hash } from 'node:crypto'
    import { MessageChannel } from 'node:worker_threads'
    const { moduleLoadList } = process
    const isLoaded = () => moduleLoadList.includes('NativeModule crypto')
    const before = isLoaded()
    const tls = require('tls')
    delete globalThis.process
    const hash = createHash('sha256').update('').digest('hex').slice(0, 8)
    const sha1 = new Hash('sha1').digest('hex').slice(0, 8)
    new MessageChannel().port1.close()
    console.log(before, isLoaded(), hash, sha1, typeof tls.connect)`
  const { outputFiles } = await build({
    stdin: { contents },
    plugins: [modulesOfNode],
    ...{ bundle: true, platform: 'node', format: 'esm', write: false },
  })
  const args = ['--no-deprecation', '--input-type=module', '-e', outputFiles[0]?.text ?? '']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('false true e3b0c442 da39a3ee function\n')
})
