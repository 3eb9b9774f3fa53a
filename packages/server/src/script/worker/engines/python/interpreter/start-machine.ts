import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type HostImports, restrictImports } from './allowed-imports.ts'
import type { CreateMachine, Machine } from './machine.ts'
import { PrintedLines } from './printed-lines.ts'

export type MachineHost = Pick<HostImports, 'checkTime' | 'memoryBytesMax'>

type Options = {
  packageDir: string
  host: MachineHost
  /** The memory to begin with; absent, the interpreter initializes itself. */
  memory?: Uint8Array | undefined
}

/** Starts an interpreter that can do what its imports allow, and runs nothing yet. */
export async function startMachine({ packageDir, host, memory }: Options): Promise<Machine> {
  const file = (name: string) => join(packageDir, name)
  // The package asks for constants of the disk, which it never gets to see.
  Reflect.set(process, 'binding', () => ({ fs: {} }))
  const imported: { default: CreateMachine } = await import(
    pathToFileURL(file('pyodide.asm.mjs')).href
  )
  const compiled = await webAssembly.compile(readFileSync(file('pyodide.asm.wasm')))
  let machine: Machine | undefined
  const lines = { stdout: new PrintedLines('stdout'), stderr: new PrintedLines('stderr') }
  const imports: HostImports = {
    ...host,
    memoryBytes: () => machine?.HEAPU8.length ?? 0,
    growMemory: (bytes) => Boolean(machine?.growMemory(bytes)),
    print: (to, at, bytes) => {
      if (machine) lines[to].write(machine.HEAPU8.subarray(at >>> 0, (at >>> 0) + bytes))
    },
    word: (at) => (machine?.HEAP32[at >>> 2] ?? 0) >>> 0,
    setWord: (at, value) => machine?.HEAP32.set([value], at >>> 2),
  }
  machine = await imported.default({
    noInitialRun: true,
    ...(memory ? { INITIAL_MEMORY: memory.length } : {}),
    thisProgram: 'python',
    // What Pyodide's half looks for while the module is set up.
    API: { config: { jsglobals: Object.freeze(Object.create(null)), env: {} }, runtimeEnv: {} },
    preRun: [
      ({ FS, ENV }) => {
        FS.mkdirTree('/lib/python3.14/lib-dynload')
        FS.writeFile('/lib/python314.zip', readFileSync(file('python_stdlib.zip')))
        Object.assign(ENV, environment)
      },
    ],
    instantiateWasm(all, ready) {
      restrictImports(all.env, imports)
      void webAssembly.instantiate(compiled, all).then((instance) => ready(instance, compiled))
      return {}
    },
    stdin: () => null,
    print: (line) => process.stdout.write(`${line}\n`),
    printErr: (line) => process.stderr.write(`${line}\n`),
  })
  if (memory) machine.HEAPU8.set(memory)
  return machine
}

/** TypeScript has it among the types of browsers only. */
type WebAssemblyApi = {
  compile(bytes: Uint8Array): Promise<object>
  instantiate(module: object, imports: object): Promise<object>
}

const webAssembly: WebAssemblyApi = Reflect.get(globalThis, 'WebAssembly')

const environment = {
  HOME: '/game',
  LANG: 'C.UTF-8',
  LOGNAME: 'guildhall',
  PATH: '/',
  PWD: '/game',
  PYTHONHOME: '/',
  PYTHON_COLORS: '0',
  PYTHONDONTWRITEBYTECODE: '1',
  USER: 'guildhall',
  _: 'python',
}
