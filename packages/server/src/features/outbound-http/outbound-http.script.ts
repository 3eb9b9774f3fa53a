import type { httpScript } from '@guildhall/contract'
import type { ScriptPart } from '../../kernel/play/script.ts'
import type { createOutboundHttp } from './outbound-http.service.ts'

/** `http.fetch` for the game's script. */
export function outboundHttpFunctions({
  fetch,
}: Pick<ReturnType<typeof createOutboundHttp>, 'fetch'>): ScriptPart<typeof httpScript> {
  return { 'http.fetch': (_caller, { request }) => fetch(request) }
}
