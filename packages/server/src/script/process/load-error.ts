export type LoadProblem = {
  readonly message: string
  /** Relative to the scripts folder. */
  readonly file?: string | undefined
  readonly line?: number | undefined
}

/**
 * A script that cannot be loaded. Its message names file and line, e.g.
 * `main.ts:3: guildhall.on_rpc: method is registered twice`.
 */
export class ScriptLoadError extends Error {
  override readonly name = 'ScriptLoadError'
  readonly file: string | undefined
  readonly line: number | undefined
  readonly reason: string

  constructor({ message, file, line }: LoadProblem) {
    const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
    super(place + message)
    this.file = file
    this.line = line
    this.reason = message
  }
}
