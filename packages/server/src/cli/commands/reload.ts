import { ScriptActivation } from '@guildhall/contract'
import type { LoadedConfig } from '../../config/load.ts'
import { askNode } from '../../kernel/control/ask-node.ts'
import type { Invocation } from '../arguments.ts'
import { controlPathsOf } from '../control.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

/** Has the nodes of the configuration load their script anew, and says what came of it. */
export async function reload(
  { config }: LoadedConfig,
  { json }: Invocation,
  terminal: Terminal,
): Promise<number> {
  const paths = [...controlPathsOf(config)]
  const outcomes = await Promise.all(
    paths.map(async ([node_id, path]) => ({ node_id, ...(await reloadOne(path)) })),
  )
  const [alone] = outcomes
  if (outcomes.length === 1 && alone !== undefined) return say(alone, json, terminal)
  if (json) {
    const nodes = outcomes.map(({ node_id, ...outcome }) => ({ node_id, ...jsonOf(outcome) }))
    printJson(terminal.stdout, { ok: outcomes.every(isActive), nodes })
    return outcomes.every(isActive) ? exitCodes.ok : exitCodes.failure
  }
  for (const { node_id, ...outcome } of outcomes) {
    const line = 'problem' in outcome ? outcome.problem : lineOf(outcome.activation)
    printLines(terminal.stdout, [`${node_id}: ${line}`])
  }
  return outcomes.every(isActive) ? exitCodes.ok : exitCodes.failure
}

type Outcome = { problem: string } | { activation: ScriptActivation }

async function reloadOne(path: string): Promise<Outcome> {
  const answer = await askNode(path, 'reload')
  if ('problem' in answer) return answer
  const activation = ScriptActivation().safeParse(answer.value).data
  return activation === undefined ? { problem: 'the node is of another version' } : { activation }
}

function say(outcome: Outcome, json: boolean, terminal: Terminal): number {
  if (json) printJson(terminal.stdout, jsonOf(outcome))
  else if ('problem' in outcome) return refuse(terminal, outcome.problem, exitCodes.failure)
  else printLines(terminal.stdout, [lineOf(outcome.activation)])
  return isActive(outcome) ? exitCodes.ok : exitCodes.failure
}

function isActive(outcome: Outcome): boolean {
  return 'activation' in outcome && outcome.activation.outcome === 'active'
}

function jsonOf(outcome: Outcome) {
  if ('problem' in outcome) return { ok: false, problems: [outcome.problem] }
  return { ok: isActive(outcome), ...outcome.activation }
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
