import { JsonRefusal, readJson } from '../../kernel/json/json-reader.ts'
import type { HookAnswer } from '../../kernel/play/room-hooks.ts'
import type { Outcome } from '../calls.ts'

/** What a hook of rooms has answered, as the gateway reads it. */
export function answerOf(outcome: Outcome): HookAnswer {
  if (outcome.status !== 'ok') return { status: 'failed' }
  const text = new TextDecoder().decode(outcome.reply)
  try {
    return { status: 'answered', value: text === '' ? null : readJson(text).value }
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error
    // More levels than anything may have, or a text with half a character.
    return { status: 'failed' }
  }
}
