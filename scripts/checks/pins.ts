import { lineAt, type Problem, type Source } from './sources.ts'

type Manifest = Partial<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>
>

/** Every installation of one commit is the same: no ranges, and no one host to install from. */
export function checkPins(files: readonly Source[]): Problem[] {
  return files.flatMap((file) => {
    if (/(^|\/)package\.json$/.test(file.path)) return unpinned(file)
    if (file.path === 'package-lock.json') return hosts(file)
    return file.path.endsWith('.npmrc') ? registryLines(file) : []
  })
}

const exact = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

function unpinned({ path, text }: Source): Problem[] {
  const manifest: Manifest = JSON.parse(text)
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const all = { ...dependencies, ...devDependencies, ...optionalDependencies }
  return Object.entries(all)
    .filter(([, version]) => !exact.test(version))
    .map(([name, version]) => {
      const line = lineAt(text, text.indexOf(`"${name}"`))
      return { path, line, text: `${name} is not pinned: ${version}` }
    })
}

function hosts({ path, text }: Source): Problem[] {
  return [...text.matchAll(/"resolved": "\w+:\/\/[^/"]*/g)].map((match) => {
    return { path, line: lineAt(text, match.index), text: `the lockfile names a host: ${match[0]}` }
  })
}

function registryLines({ path, text }: Source): Problem[] {
  return [...text.matchAll(/^.*registry\s*=.*$/gm)].map((match) => {
    return {
      path,
      line: lineAt(text, match.index),
      text: 'the registry is each installation’s own',
    }
  })
}
