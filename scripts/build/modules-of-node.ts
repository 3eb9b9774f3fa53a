import type { Plugin } from 'esbuild'

/** A start does not use them, or not in each process. To load all takes eight milliseconds. */
const lateModules = ['crypto', 'dns/promises', 'https', 'tls', 'worker_threads']
const late = new RegExp(`^(?:node:)?(?:${lateModules.join('|')})$`)

/**
 * The modules of Node.js as plain values. Imported, each first reads all that it exports, which for
 * `node:http` loads the client of `fetch` and its WebSocket: a tenth of a start. Functions and
 * classes of the late ones are looked up with their first call, and such a class has no heirs.
 */
export const modulesOfNode: Plugin = {
  name: 'modules of Node.js',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'node' } : undefined,
    )
    build.onLoad({ filter: /^node:/, namespace: 'node' }, ({ path }) => {
      const given = `process.getBuiltinModule('${path}')`
      const values = valuesOf(path).map(([name, value]) =>
        late.test(path) && typeof value === 'function'
          ? lateFunction(name, `heldGet('${path}')`)
          : `export const ${name} = ${pure(`${given}.${name}`)}`,
      )
      return { contents: [held, ...values, `export default ${pure(given)}`].join('\n') }
    })
    // Packages in CommonJS read the members where they use them.
    build.onResolve({ filter: late }, ({ path, kind }) =>
      kind === 'require-call' ? { path, namespace: 'late' } : undefined,
    )
    build.onLoad({ filter: late, namespace: 'late' }, ({ path }) => ({
      contents: `${held}
        module.exports = new Proxy({}, { get: (_none, name) => heldGet('${path}')[name] })`,
    }))
  },
}

/** A script that shares the process may delete `process`. */
const held = `const heldGet = ${pure('process.getBuiltinModule')}`

/** Of a pure call nothing is left where nobody imports its value. */
function pure(value: string): string {
  return `/* @__PURE__ */ (() => ${value})()`
}

function lateFunction(name: string, given: string): string {
  return `let found_${name}
    export function ${name}(...values) {
      found_${name} ??= ${given}.${name}
      return new.target ? new found_${name}(...values) : found_${name}(...values)
    }`
}

function valuesOf(path: string): [string, unknown][] {
  const given: object = process.getBuiltinModule(path) ?? {}
  return Object.entries(given).filter(([name]) => {
    return /^[A-Za-z_$]\w*$/.test(name) && name !== 'default'
  })
}
