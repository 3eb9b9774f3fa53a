/// <reference path="../../../../guildhall.d.ts" />

/** Does the operations that are asked for; a refusal is its code. */
guildhall.on_rpc('transact', async (_ctx, body) => {
  const [ops, options] = JSON.parse(new TextDecoder().decode(body))
  try {
    return await guildhall.transact(ops, options)
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? error.code : 'unknown' }
  }
})
