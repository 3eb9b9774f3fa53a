import type { ScriptActivation } from '@guildhall/contract'

const activationsMax = 20

/** The last activations and rejections of scripts, newest first. */
export function createActivationList() {
  let last: readonly ScriptActivation[] = []
  return {
    add(activation: ScriptActivation): void {
      last = [activation, ...last].slice(0, activationsMax)
    },
    items: (): ScriptActivation[] => [...last],
  }
}
