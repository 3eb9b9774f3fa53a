/** What has become of uploads; the client learns no more than whether it was taken. */
export const uploadResults = [
  'ok',
  'disabled',
  'throttled',
  'token',
  'busy',
  'type',
  'size',
  'time',
  'gzip',
  'format',
  'quota',
  'error',
] as const
export type UploadResult = (typeof uploadResults)[number]

/** An upload that is refused, and why. */
export class UploadFault extends Error {
  override readonly name = 'UploadFault'
  readonly result: Exclude<UploadResult, 'ok'>

  constructor(result: Exclude<UploadResult, 'ok'>) {
    super(result)
    this.result = result
  }
}
