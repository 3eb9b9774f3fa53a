import packageJson from '../package.json' with { type: 'json' }

/** The version of this binary, e.g. `0.1.0`. */
export const version: string = packageJson.version
