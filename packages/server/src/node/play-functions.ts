import type { ScriptName, ServedScript } from '../kernel/script.ts'
import type { Gateway } from '../realtime/gateway.ts'

/** What scripts ask of the gateway itself. */
export function gatewayFunctions(gateway: () => Gateway) {
  return {
    session_list: () => gateway().sessions(),
  } satisfies Partial<ServedScript>
}

/** What scripts ask of the features: all that is served but the gateway's own. */
export type FeatureScript = Pick<
  ServedScript,
  Exclude<ScriptName, keyof ReturnType<typeof gatewayFunctions>>
>
