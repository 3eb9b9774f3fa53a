/** Asked before something is sent that others will feel. */
export type Question = { words: string; action: string }
