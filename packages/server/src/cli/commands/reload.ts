import { ScriptActivation } from '@guildhall/contract'
import type { LoadedConfig } from '../../config/load.ts'
import { askNode } from '../../kernel/control/ask-node.ts'
import type { Invocation } from '../arguments.ts'
import { controlPathOf } from '../control.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

/** Has the node of the configuration load its script anew, and says what came of it. */
export async function reload(
  { config }: LoadedConfig,
  { json }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const answer = await askNode(controlPathOf(config), 'reload')
  const activation = 'value' in answer ? ScriptActivation.safeParse(answer.value).data : undefined
  if (activation === undefined) {
    const problem = 'problem' in answer ? answer.problem : 'the node is of another version'
    if (!json) return refuse(terminal, problem, exitCodes.failure)
    printJson(terminal.stdout, { ok: false, problems: [problem] })
    return exitCodes.failure
  }
  const ok = activation.outcome === 'active'
  if (json) printJson(terminal.stdout, { ok, ...activation })
  else printLines(terminal.stdout, [lineOf(activation)])
  return ok ? exitCodes.ok : exitCodes.failure
}

function lineOf({
  outcome,
  generation,
  revision_id,
  problem,
  files,
  duration_ms,
}: ScriptActivation) {
  if (outcome === 'rejected') return `rejected: ${problem}; generation ${generation} goes on`
  const changed = files.length === 0 ? 'no file has changed' : files.join(', ')
  return `active: generation ${generation}, ${revision_id}, in ${duration_ms} ms (${changed})`
}
