/** The life of a capture; the last two are final. */
export const captureStates = ['recording', 'minting', 'flushing', 'sealed', 'expired'] as const
export type CaptureState = (typeof captureStates)[number]

/** Most bytes of a label. */
export const lagLabelBytesMax = 64

/** What has become of one recorder of a capture. */
export const recorderStatuses = [
  'offered',
  'recording',
  'failed',
  'flushing',
  'uploaded',
  'missed',
  'gone',
] as const
export type RecorderStatus = (typeof recorderStatuses)[number]

/** What a report came to. */
export const lagOutcomes = [
  'no_analysis',
  'pending',
  'no_data',
  'partial',
  'complete',
  'failed',
] as const
export type LagOutcome = (typeof lagOutcomes)[number]

export const lagDirections = ['inbound', 'outbound'] as const
export const lagDeliveries = ['reliable', 'datagram'] as const
export type LagDirection = (typeof lagDirections)[number]
export type LagDelivery = (typeof lagDeliveries)[number]
