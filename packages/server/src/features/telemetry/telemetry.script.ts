import type { logsScript } from '@guildhall/contract'
import type { ScriptPart } from '../../kernel/play/script.ts'
import type { createSlices } from './telemetry.slices.ts'

type Part = Pick<
  ScriptPart<typeof logsScript>,
  'telemetry.begin' | 'telemetry.mark' | 'telemetry.finish'
>

/** Telemetry slices of the game's script: one of each match, and one without. */
export function telemetryFunctions(slices: ReturnType<typeof createSlices>): Part {
  return {
    'telemetry.begin': (caller, { context }) => slices.begin(caller, context),
    'telemetry.mark': (caller, { outcome }) => slices.mark(caller, outcome),
    'telemetry.finish': (caller) => slices.finish(caller),
  }
}
