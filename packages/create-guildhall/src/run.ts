import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gameLanguages, languageNamed } from './languages.ts'
import { makeProject } from './project.ts'
import { CannotWrite } from './write.ts'

export type Surroundings = {
  cwd: string
  version: string
  /** Of the running Node.js, e.g. `24.21.0`. */
  nodeVersion: string
  say(text: string): void
  complain(text: string): void
}

const languageNames = gameLanguages.map(({ name }) => name).join(', ')

const usage = `Usage: npm create guildhall FOLDER [-- FLAGS]

Makes the project of a game in FOLDER, which must be new or empty.

Flags:
  --language L        The language of the script: ${languageNames}.
  --packages FOLDER   Installs Guildhall's packages from the .tgz files of a folder.
  --help              Prints this.
  --version           Prints the version.`

const nodeMajor = 24

/** Runs `create-guildhall`; answers with its exit code: 1 when it could not, 2 when misused. */
export function run(argv: readonly string[], surroundings: Surroundings): number {
  const { cwd, version, nodeVersion, say, complain } = surroundings
  if (Number.parseInt(nodeVersion, 10) < nodeMajor) {
    complain(`it needs Node.js ${nodeMajor} or newer, and this is ${nodeVersion}`)
    return 1
  }
  const read = readArguments(argv)
  if (typeof read === 'string') {
    complain(`${read}\n\n${usage}`)
    return 2
  }
  if (read.help || read.version) {
    say(read.help ? usage : version)
    return 0
  }
  const { folder, packages } = read
  const language = languageNamed(read.language)
  if (language === undefined) {
    complain(`there is no language ${JSON.stringify(read.language)}: ${languageNames}`)
    return 2
  }
  try {
    const names = makeProject({ folder, cwd, language, version, packages })
    say(nextSteps(relative(cwd, resolve(cwd, folder)), names))
    return 0
  } catch (error) {
    if (!(error instanceof CannotWrite)) throw error
    complain(error.message)
    return 1
  }
}

type Read = {
  folder: string
  language: string
  packages: string | undefined
  help: boolean
  version: boolean
}

function readArguments(argv: readonly string[]): Read | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        language: { type: 'string' },
        packages: { type: 'string' },
        help: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
      },
    })
    const { help, version, packages } = values
    const [folder, ...more] = positionals
    if (more.length > 0) return 'it takes one folder'
    if (!folder && !help && !version) return 'it needs the folder of the project'
    const language = values.language ?? gameLanguages[0]?.name ?? ''
    return { folder: folder ?? '', language, packages, help, version }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function nextSteps(folder: string, names: readonly string[]): string {
  const enter = folder === '' ? [] : [`  cd ${folder.includes(' ') ? `'${folder}'` : folder}`]
  return [
    `made ${folder === '' ? 'the project' : folder} with ${names.join(', ')}`,
    '',
    'Next:',
    ...enter,
    '  npm install',
    '  npm run dev      # the node; it loads the script again whenever you save it',
    '  npm run page     # the page, in a second terminal: http://localhost:5173',
    '  npm test',
  ].join('\n')
}
