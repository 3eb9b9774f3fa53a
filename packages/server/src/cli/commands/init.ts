import { resolve } from 'node:path'
import { CannotWrite, gameLanguages, languageNamed, writeGame } from 'create-guildhall'
import { quoted } from '../../config/problem.ts'
import type { Invocation } from '../arguments.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

/** Where the script of a node lies unless its configuration says otherwise. */
const defaultFolder = 'game'

/** Writes a first script and its test into a new or empty folder. */
export function initGame(
  { argument, values, json }: Pick<Invocation, 'argument' | 'values' | 'json'>,
  terminal: Terminal,
): number {
  const folder = argument ?? defaultFolder
  const wanted = values.get('--language')
  const language = wanted === undefined ? gameLanguages[0] : languageNamed(wanted)
  if (language === undefined) {
    const known = gameLanguages.map(({ name }) => name).join(', ')
    return refuse(terminal, `there is no language ${quoted(wanted ?? '')}: ${known}`)
  }
  try {
    const files = writeGame(resolve(terminal.cwd, folder), language)
    if (json) printJson(terminal.stdout, { ok: true, folder, files })
    else printLines(terminal.stdout, [`wrote ${files.join(', ')} into ${folder}`])
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof CannotWrite)) throw error
    return refuse(terminal, error.message, exitCodes.failure)
  }
}
