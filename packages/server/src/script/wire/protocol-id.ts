/** Set by the build: a hash of what the channel's messages are made of. */
declare const protocolOfBuild: string | undefined

/** Which messages this end of the channel knows; empty where it runs from its sources. */
export function protocolId(): string {
  return typeof protocolOfBuild === 'undefined' ? '' : protocolOfBuild
}

/** Whether the other end was built of other sources, e.g. under a node that runs on. */
export function isOtherProtocol(other: string): boolean {
  return protocolId() !== '' && other !== protocolId()
}
