import { expect, it } from 'vitest'
import { completeLockfile } from './complete-lockfile.ts'

it('adds the packages of other platforms that the lock file lacks, and nothing else', () => {
  const lockfile = {
    packages: {
      'node_modules/tool': {
        version: '2.0.0',
        dev: true,
        optionalDependencies: {
          '@tool/cli-linux-x64': '2.0.0',
          '@tool/cli-linux-arm64-musl': '2.0.0',
        },
      },
      'node_modules/@tool/cli-linux-x64': { version: '2.0.0', optional: true },
    },
  }
  expect(completeLockfile(lockfile)).toEqual(['node_modules/@tool/cli-linux-arm64-musl'])
  expect(Object.entries(lockfile.packages)[0]).toEqual([
    'node_modules/@tool/cli-linux-arm64-musl',
    { version: '2.0.0', cpu: ['arm64'], dev: true, libc: ['musl'], optional: true, os: ['linux'] },
  ])
  expect(completeLockfile(lockfile)).toEqual([])
})
