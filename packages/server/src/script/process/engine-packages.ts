import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The folder of an optional dependency; undefined when it is not installed. */
export function findPackage(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}
