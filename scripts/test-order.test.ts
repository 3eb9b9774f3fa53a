import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { longest } from './test-order.ts'

const root = join(import.meta.dirname, '..')
const tests = ['packages/*/src', 'examples', 'scripts'].flatMap((folder) => {
  return globSync(`${folder}/**/*.test.ts`, { cwd: root })
})

it.each(longest)('one file of tests is %s', (ending) => {
  expect(tests.filter((path) => path.endsWith(ending))).toHaveLength(1)
})
